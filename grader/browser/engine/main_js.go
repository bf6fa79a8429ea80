package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall/js"

	"cudalab/grader/judge/compile"
)

// setup is what the page says about the files that it has put here.
type setup struct {
	Root     string   // the course
	Tools    string   // the folder of compiler and linker
	Folder   string   // of the packages
	Packages []string // their import paths
	Lang     string   // as compile.Given takes it
	Debug    string   // as compile.Given takes it
}

func main() {
	page := js.Global().Get("cudalab")
	var s setup
	if err := json.Unmarshal([]byte(page.Get("setup").String()), &s); err != nil {
		fail(err)
	}
	e, err := open(s.Root, compile.Given(s.Tools, s.Lang, s.Debug, s.Folder, s.Packages))
	if err != nil {
		fail(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	page.Set("cancel", js.FuncOf(func(js.Value, []js.Value) any { cancel(); return nil }))
	// A call answers through its last argument, a function of an error and a text: what is called from the page's loop
	// must not wait.
	page.Set("check", js.FuncOf(func(_ js.Value, args []js.Value) any {
		ctx, cancel = context.WithCancel(context.Background())
		go func(ctx context.Context) {
			var q request
			err := json.Unmarshal([]byte(args[0].String()), &q)
			var a answer
			if err == nil {
				a, err = e.check(ctx, q)
			}
			text, _ := json.Marshal(a)
			reply(args[1], err, string(text))
		}(ctx)
		return nil
	}))
	page.Set("warm", js.FuncOf(func(_ js.Value, args []js.Value) any {
		ctx, cancel = context.WithCancel(context.Background())
		go func(ctx context.Context) { reply(args[1], e.warm(ctx, args[0].String()), "") }(ctx)
		return nil
	}))
	page.Call("serving")
	select {}
}

func reply(done js.Value, err error, text string) {
	if err != nil {
		done.Invoke(err.Error(), "")
		return
	}
	done.Invoke(js.Null(), text)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
