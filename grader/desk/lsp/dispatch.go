package lsp

import (
	"context"
	"encoding/json"
	"strconv"
)

// request carries out a request. Its result may come later: then answered is false.
type request func(s *server, m *incoming) (result any, answered bool, err *responseError)

// requests are those that the server knows, but for initialize and shutdown.
var requests = map[string]request{
	"textDocument/hover":       now((*server).hover),
	"textDocument/codeAction":  now((*server).codeActions),
	"workspace/executeCommand": (*server).execute,
}

// notifications are those that mean something to the server; others are ignored.
var notifications = map[string]func(s *server, m *incoming) *responseError{
	"textDocument/didOpen":   told((*server).opened),
	"textDocument/didChange": told((*server).changed),
	"textDocument/didSave":   told((*server).saved),
	"$/cancelRequest":        told((*server).cancelled),
}

// now is a request that is answered at once.
func now[P any](do func(*server, P) any) request {
	return func(s *server, m *incoming) (any, bool, *responseError) {
		p, err := params[P](m)
		if err != nil {
			return nil, true, err
		}
		return do(s, p), true, nil
	}
}

func told[P any](do func(*server, P)) func(*server, *incoming) *responseError {
	return func(s *server, m *incoming) *responseError {
		p, err := params[P](m)
		if err == nil {
			do(s, p)
		}
		return err
	}
}

// take deals with one message.
func (s *server) take(content []byte) {
	m, err := decode(content)
	switch {
	case err != nil:
		s.fail(null, err)
	case m.Method == "":
		s.answered(m)
	case m.ID == nil:
		s.notified(m)
	default:
		s.requested(m)
	}
}

func (s *server) reply(id json.RawMessage, result any) {
	s.send(response{Version: "2.0", ID: id, Result: result})
}

func (s *server) fail(id json.RawMessage, err *responseError) {
	s.send(failure{Version: "2.0", ID: id, Error: err})
}

// answered takes the client's response to a request of the server's. One that nobody has asked for is none of its
// business.
func (s *server) answered(m *incoming) {
	id, err := strconv.Atoi(string(m.ID))
	if then, ok := s.asked[id]; err == nil && ok {
		delete(s.asked, id)
		then(m)
	}
}

func (s *server) notified(m *incoming) {
	if m.Method == "exit" {
		s.left = true
		return
	}
	take, known := notifications[m.Method]
	if !known || s.state != running {
		return // as the protocol asks for
	}
	if err := take(s, m); err != nil {
		s.note("cudalab: " + err.Message)
	}
}

func (s *server) requested(m *incoming) {
	switch {
	case s.state == shutDown:
		s.fail(m.ID, &responseError{codeInvalidRequest, "the server was shut down"})
	case m.Method == "initialize" && s.state == running:
		s.fail(m.ID, &responseError{codeInvalidRequest, "the server was initialized before"})
	case m.Method == "initialize":
		s.initialize(m)
	case s.state == uninitialized:
		s.fail(m.ID, &responseError{codeServerNotInitialized, "the first request is initialize"})
	case m.Method == "shutdown":
		s.shutDown()
		s.reply(m.ID, nil)
	case requests[m.Method] == nil:
		s.fail(m.ID, &responseError{codeMethodNotFound, "there is no method " + m.Method})
	default:
		result, answered, err := requests[m.Method](s, m)
		switch {
		case err != nil:
			s.fail(m.ID, err)
		case answered:
			s.reply(m.ID, result)
		}
	}
}

func (s *server) initialize(m *incoming) {
	p, err := params[initializeParams](m)
	if err != nil {
		s.fail(m.ID, err)
		return
	}
	s.state, s.client = running, p
	if p.ProcessID != nil {
		s.watchParent(*p.ProcessID)
	}
	s.reply(m.ID, initializeResult{ServerInfo: serverInfo{Name: "cudalab"}, Capabilities: serverCapabilities{
		PositionEncoding:       "utf-16",
		TextDocumentSync:       textDocumentSyncOptions{OpenClose: true, Change: syncIncremental, Save: true},
		HoverProvider:          true,
		CodeActionProvider:     codeActionOptions{[]string{quickFix}},
		ExecuteCommandProvider: executeCommandOptions{commands},
	}})
}

// shutDown ends all that goes on; exit is to come.
func (s *server) shutDown() {
	s.state, s.queue = shutDown, nil
	if s.checking != nil {
		s.checking.cancel()
	}
	for _, cancel := range s.working {
		cancel()
	}
}

// carryOut does what a request asks for beside Run, and answers it with null. What err says is the answer where it
// fails. The client may cancel it.
func (s *server) carryOut(id json.RawMessage, work func(context.Context) (then func(), err error)) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.working[string(id)] = cancel
	s.apart(func() func() {
		then, err := work(ctx)
		return func() {
			stopped := ctx.Err() != nil
			cancel()
			delete(s.working, string(id))
			switch {
			case stopped:
				s.fail(id, &responseError{codeRequestCancelled, "the request was cancelled"})
			case err != nil:
				s.fail(id, &responseError{codeRequestFailed, err.Error()})
			default:
				s.reply(id, nil)
				then()
			}
		}
	})
}

func (s *server) cancelled(p cancelParams) {
	if cancel, ok := s.working[string(p.ID)]; ok {
		cancel()
	}
}
