package lsp

import (
	"bytes"
	"encoding/json"
)

// incoming is a request, a notification or a response (LSP 3.17, Base Protocol; JSON-RPC 2.0).
type incoming struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // nil for a notification
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"` // of a response
	Error   *responseError  `json:"error"`
}

// response answers a request.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

// failure answers a request that cannot be carried out.
type failure struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *responseError  `json:"error"`
}

// outgoing is a request or, without an ID, a notification of the server's.
type outgoing struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

type responseError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *responseError) Error() string { return e.Message }

// Codes of errors, by the protocol's names.
const (
	codeParseError           = -32700
	codeInvalidRequest       = -32600
	codeMethodNotFound       = -32601
	codeInvalidParams        = -32602
	codeServerNotInitialized = -32002
	codeRequestCancelled     = -32800
	codeRequestFailed        = -32803
)

var null = json.RawMessage("null")

// decode reads a message. Its error is what the client is answered.
func decode(content []byte) (*incoming, *responseError) {
	var m incoming
	if err := json.Unmarshal(content, &m); err != nil {
		if !json.Valid(content) {
			return nil, &responseError{codeParseError, "the message is no JSON: " + err.Error()}
		}
		return nil, &responseError{codeInvalidRequest, "the message is no JSON-RPC message: " + err.Error()}
	}
	isID := m.ID == nil || bytes.Equal(m.ID, null) || m.ID[0] == '"' || m.ID[0] == '-' || m.ID[0] >= '0' && m.ID[0] <= '9'
	switch {
	case m.Version != "2.0":
		return nil, &responseError{codeInvalidRequest, `the message does not say "jsonrpc": "2.0"`}
	case !isID:
		return nil, &responseError{codeInvalidRequest, "an id is a number or a string"}
	case m.Method == "" && (m.ID == nil || m.Result == nil && m.Error == nil):
		return nil, &responseError{codeInvalidRequest, "the message is no request, no notification and no response"}
	}
	return &m, nil
}

// result decodes what a response carries, whose error it returns if it has one.
func result[R any](m *incoming) (R, error) {
	var r R
	if m.Error != nil {
		return r, m.Error
	}
	return r, json.Unmarshal(m.Result, &r)
}

// params decodes what a message carries. What is missing stays as it is in p; what has another type is the client's
// fault.
func params[P any](m *incoming) (P, *responseError) {
	var p P
	if len(m.Params) == 0 {
		return p, nil
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return p, &responseError{codeInvalidParams, m.Method + ": " + err.Error()}
	}
	return p, nil
}
