// What is to be known of a student's Go file while it is written: the gaps that are left, and which function a line is in.
import {goLanguage} from './codemirror/codemirror.js';

// walk calls enter with each node of a kind in the text.
function walk(text, kinds, enter) {
  goLanguage.parser.parse(text).iterate({enter(node) {
    if (kinds.includes(node.name)) enter(node.node, text.slice(node.from, node.to));
  }});
}

// gaps are the statements with a call contract.TODO("1a") that are left, in the order of their numbers: {id, from, to}.
export function gaps(text) {
  const found = new Map();
  walk(text, ['CallExpr'], (node, code) => {
    const call = /^[\w.]*\.TODO\(\s*["`](\w+)["`]\s*,?\s*\)$/.exec(code);
    if (!call || found.has(call[1])) return;
    let statement = node;
    while (statement.parent && !['Block', 'SourceFile', 'SwitchBlock', 'Case'].includes(statement.parent.name)) statement = statement.parent;
    found.set(call[1], {id: call[1], from: statement.from, to: statement.to});
  });
  return [...found.values()].sort((a, b) => a.id < b.id ? -1 : 1);
}

// functions are the functions and methods of the text, with the lines that they stand in, from 1: {name, first, last, text}.
// A method's name has its receiver's type before it: "*Allocator.Free".
export function functions(text) {
  const lines = at => text.slice(0, at).split('\n').length;
  const found = [];
  walk(text, ['FunctionDecl', 'MethodDecl'], (node, code) => {
    const receiver = node.name === 'MethodDecl' ? node.getChild('Parameters') : null;
    const name = node.getChild(receiver ? 'FieldName' : 'DefName');
    if (!name) return;
    const type = receiver ? /(\*?\s*\w+)(\[[^\]]*\])?\s*\)$/.exec(text.slice(receiver.from, receiver.to))?.[1] + '.' : '';
    found.push({name: type + text.slice(name.from, name.to), first: lines(node.from), last: lines(node.to), text: code});
  });
  return found;
}

// packageOf is the name behind `package` in a Go file; '' where there is none.
export function packageOf(text) {
  let name = '';
  walk(text, ['PackageClause'], (_, code) => { name ||= code.replace(/^package\s+/, ''); });
  return /^\w+$/.test(name) ? name : '';
}
