// What the page uses of CodeMirror; build.sh bundles it into codemirror.js.
export {EditorState, EditorSelection} from "@codemirror/state";
export {
  EditorView, keymap, lineNumbers, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, drawSelection,
} from "@codemirror/view";
export {defaultKeymap, history, historyKeymap, indentMore, indentLess, insertTab, undo} from "@codemirror/commands";
export {
  bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting,
} from "@codemirror/language";
export {closeBrackets, closeBracketsKeymap} from "@codemirror/autocomplete";
export {search, searchKeymap, highlightSelectionMatches} from "@codemirror/search";
export {lintGutter, lintKeymap, openLintPanel, setDiagnostics} from "@codemirror/lint";
export {goLanguage} from "@codemirror/lang-go";
export {classHighlighter, highlightCode} from "@lezer/highlight";
