// The editor: CodeMirror with Go's colours, the findings of the last check as squiggles, and the keys that a Go file needs.
import {
  bracketMatching, classHighlighter, closeBrackets, closeBracketsKeymap, codeFolding, defaultKeymap, drawSelection, EditorSelection,
  EditorState, EditorView, foldGutter, foldKeymap, goLanguage, highlightActiveLine, highlightActiveLineGutter,
  highlightSelectionMatches, highlightSpecialChars, history, historyKeymap, indentLess, indentMore, indentOnInput, indentUnit, insertTab,
  keymap, lineNumbers, lintGutter, lintKeymap, search, searchKeymap, setDiagnostics, syntaxHighlighting,
} from './codemirror/codemirror.js';
import {el} from './dom.js';

const tab = {key: 'Tab', run: view => view.state.selection.ranges.some(r => !r.empty) ? indentMore(view) : insertTab(view), shift: indentLess};

// An Editor shows one file at a time.
export class Editor {
  #view;
  #changed;

  // changed is called with the whole text whenever it was edited; keys are CodeMirror's key bindings, before its own.
  constructor(parent, {changed, keys}) {
    this.#changed = changed;
    this.extensions = [
      lineNumbers(), foldGutter({openText: '▾', closedText: '▸'}), codeFolding(), lintGutter(), history(), drawSelection(), highlightSpecialChars(),
      indentOnInput(), bracketMatching(), closeBrackets(), highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(),
      search({top: true}), EditorView.lineWrapping, goLanguage, syntaxHighlighting(classHighlighter), indentUnit.of('\t'), EditorState.tabSize.of(4),
      keymap.of([...keys, ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap, tab]),
      EditorView.contentAttributes.of({'aria-label': 'Your code. Escape, then Tab leaves the editor.', spellcheck: 'false', autocapitalize: 'off',
        autocorrect: 'off', translate: 'no'}),
      EditorView.updateListener.of(update => {
        if (update.docChanged) this.#changed(this.text);
      }),
    ];
    this.#view = new EditorView({parent, state: this.#state('')});
  }

  #state(text) {
    return EditorState.create({doc: text, extensions: this.extensions});
  }

  get text() {
    return this.#view.state.doc.toString();
  }

  get focused() {
    return this.#view.hasFocus;
  }

  // open shows another file, with the cursor at a place of it: nothing of the one before can be undone into it.
  open(text, at = 0) {
    this.#view.setState(this.#state(text));
    this.#view.dispatch({selection: EditorSelection.cursor(at), effects: EditorView.scrollIntoView(at, {y: 'center'})});
  }

  focus() {
    this.#view.focus();
  }

  // select goes to a place and marks it.
  select(from, to = from) {
    const end = this.#view.state.doc.length;
    this.#view.dispatch({selection: EditorSelection.single(Math.min(from, end), Math.min(to, end)),
      effects: EditorView.scrollIntoView(Math.min(from, end), {y: 'center'})});
    this.focus();
  }

  // goTo goes to a line, counted from 1.
  goTo(line) {
    const {from, text} = this.#line(line);
    this.select(from + text.search(/\S|$/));
  }

  #line(line) {
    const doc = this.#view.state.doc;
    return doc.line(Math.min(Math.max(line, 1), doc.lines));
  }

  // mark underlines findings: {line, column, severity, rule, message, why, fix}. A line without a column is marked as a whole.
  mark(findings) {
    const marks = findings.map(f => {
      const line = this.#line(f.line);
      const bytes = new TextEncoder().encode(line.text);
      const before = f.column > 1 ? new TextDecoder().decode(bytes.slice(0, f.column - 1)).length : line.text.search(/\S|$/);
      const from = Math.min(line.from + before, line.to);
      const word = f.column ? /^\w+|^\S/.exec(line.text.slice(from - line.from)) : null;
      const to = word ? from + word[0].length : Math.max(from, line.from + line.text.trimEnd().length);
      return {from, to, severity: f.severity === 'error' && !f.follows ? 'error' : 'info', source: f.rule, message: `${f.rule}: ${f.message}`,
        renderMessage: () => words(f)};
    });
    marks.sort((a, b) => a.from - b.from || a.to - b.to);
    this.#view.dispatch(setDiagnostics(this.#view.state, marks));
  }
}

// words are a finding as it is shown when one points at it.
function words(f) {
  return el('div', {class: 'told'}, el('strong', {}, f.rule), ' ', f.message,
    f.why ? el('p', {}, el('b', {}, 'Why: '), f.why) : null,
    f.fix ? el('p', {}, el('b', {}, 'Fix: '), f.fix) : null);
}
