package lsp

import "encoding/json"

// The structures of the protocol that the server uses, by their names in LSP 3.17
// (https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/), each with the fields
// that it uses.

type initializeParams struct {
	ProcessID    *int `json:"processId"`
	Capabilities struct {
		Window struct {
			WorkDoneProgress bool `json:"workDoneProgress"`
			ShowDocument     struct {
				Support bool `json:"support"`
			} `json:"showDocument"`
		} `json:"window"`
		TextDocument struct {
			Hover struct {
				ContentFormat []string `json:"contentFormat"`
			} `json:"hover"`
			CodeAction struct {
				LiteralSupport json.RawMessage `json:"codeActionLiteralSupport"`
			} `json:"codeAction"`
			PublishDiagnostics struct {
				RelatedInformation bool `json:"relatedInformation"`
			} `json:"publishDiagnostics"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

type initializeResult struct {
	Capabilities serverCapabilities `json:"capabilities"`
	ServerInfo   serverInfo         `json:"serverInfo"`
}

type serverInfo struct {
	Name string `json:"name"`
}

type serverCapabilities struct {
	PositionEncoding       string                  `json:"positionEncoding"`
	TextDocumentSync       textDocumentSyncOptions `json:"textDocumentSync"`
	HoverProvider          bool                    `json:"hoverProvider"`
	CodeActionProvider     codeActionOptions       `json:"codeActionProvider"`
	ExecuteCommandProvider executeCommandOptions   `json:"executeCommandProvider"`
}

type textDocumentSyncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"`
	Save      bool `json:"save"`
}

const syncIncremental = 2

type codeActionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds"`
}

type executeCommandOptions struct {
	Commands []string `json:"commands"`
}

// position is counted from 0; Character in UTF-16 code units, which every client knows.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type textDocument struct {
	URI string `json:"uri"`
}

// documentParams are what didOpen, didSave and didClose have in common.
type documentParams struct {
	TextDocument textDocument `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument   textDocument    `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
}

type contentChange struct {
	Range *textRange `json:"range"` // nil: the text is all of the document
	Text  string     `json:"text"`
}

type diagnostic struct {
	Range    textRange            `json:"range"`
	Severity int                  `json:"severity"`
	Code     string               `json:"code"`
	Source   string               `json:"source"`
	Message  string               `json:"message"`
	Related  []relatedInformation `json:"relatedInformation,omitempty"`
}

const (
	severityError       = 1
	severityWarning     = 2
	severityInformation = 3
)

type relatedInformation struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type publishDiagnosticsParams struct {
	URI         string       `json:"uri"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type hoverParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     position     `json:"position"`
}

type hover struct {
	Contents markupContent `json:"contents"`
	Range    textRange     `json:"range"`
}

type markupContent struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

const (
	markdownKind  = "markdown"
	plainTextKind = "plaintext"
)

type codeActionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Range        textRange    `json:"range"`
	Context      struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type codeAction struct {
	Title       string       `json:"title"`
	Kind        string       `json:"kind"`
	Diagnostics []diagnostic `json:"diagnostics,omitempty"`
	Command     command      `json:"command"`
}

type command struct {
	Title     string            `json:"title"`
	Command   string            `json:"command"`
	Arguments []commandArgument `json:"arguments"`
}

type executeCommandParams struct {
	Command   string            `json:"command"`
	Arguments []commandArgument `json:"arguments"`
}

type showMessageParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

const (
	messageError = 1
	messageInfo  = 3
)

type showDocumentParams struct {
	URI      string `json:"uri"`
	External bool   `json:"external"`
}

type showDocumentResult struct {
	Success bool `json:"success"`
}

type progressCreateParams struct {
	Token string `json:"token"`
}

type progressParams struct {
	Token string        `json:"token"`
	Value progressValue `json:"value"`
}

// progressValue begins, continues or ends an account of work.
type progressValue struct {
	Kind    string `json:"kind"`
	Title   string `json:"title,omitempty"`
	Message string `json:"message,omitempty"`
}

type cancelParams struct {
	ID json.RawMessage `json:"id"`
}
