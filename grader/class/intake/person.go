package intake

import (
	"strings"
	"time"
)

// Person is one of those who handed something in, as far as the platform's export and the roster tell. What is not
// known is "".
type Person struct {
	Name     string `json:"name,omitempty"`
	SID      string `json:"sid,omitempty"` // the student number
	Email    string `json:"email,omitempty"`
	Login    string `json:"login,omitempty"`    // the user's name on the platform, or on GitHub
	Platform string `json:"platform,omitempty"` // the number by which the platform's files and tables name them
	Section  string `json:"section,omitempty"`
}

// Moment is when something was handed in, as far as the platform's export tells.
type Moment struct {
	// Time is as exact as the export: "2026-09-01T12:00:00Z", or without a zone where the export names none, which is the
	// platform's then. "" if it is not told.
	Time    string `json:"time,omitempty"`
	Late    bool   `json:"late,omitempty"`    // the platform says so
	Attempt int    `json:"attempt,omitempty"` // which one is graded, from 1, of those that there are
	Of      int    `json:"of,omitempty"`
}

// parseTime reads a time and writes it as Moment has it.
func parseTime(layout, text string) (string, error) {
	t, err := time.Parse(layout, strings.TrimSpace(text))
	if err != nil {
		return "", err
	}
	return t.UTC().Format(time.RFC3339), nil
}
