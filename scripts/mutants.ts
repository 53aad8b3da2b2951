import {
  type BinaryExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isExportDeclaration,
  isExpressionStatement,
  isFunctionLikeDeclaration,
  isIfStatement,
  isImportDeclaration,
  isNoSubstitutionTemplateLiteral,
  isPrefixUnaryExpression,
  isPropertyAssignment,
  isStringLiteral,
  isTaggedTemplateExpression,
  isTemplateExpression,
  isThrowStatement,
  isTypeNode,
  isWhileStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'

/** One small change to a source file, which a test should notice. */
export interface Mutant {
  /** From the project's root. */
  file: string
  line: number
  start: number
  end: number
  replacement: string
  /** For a reader: what became what. */
  change: string
}

/** What it makes of the text from `start` to `end` of its file. */
type Change = Pick<Mutant, 'start' | 'end' | 'replacement'>

const otherOperators: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '+=': '-=',
  '-=': '+=',
}

const otherComparisons: Readonly<Record<string, string>> = {
  '=': '<>',
  '<>': '=',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
}

/** All mutants of a file, in the order of its lines. */
export function mutantsOf(file: string, source: SourceFile): Mutant[] {
  const changes: Change[] = []
  const visit = (node: Node): void => {
    if (isImportDeclaration(node) || isExportDeclaration(node) || isTypeNode(node)) return
    changes.push(...changesOf(node, source))
    node.forEachChild(visit)
  }
  visit(source)
  return changes.map((change) => described(file, source.text, change)).sort((one, other) => one.start - other.start)
}

export function apply({ start, end, replacement }: Change, text: string): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

function changesOf(node: Node, source: SourceFile): Change[] {
  const start = node.getStart(source)
  const by = (replacement: string): Change[] => [{ start, end: node.end, replacement }]
  if (isBinaryExpression(node)) return otherOperator(node, source)
  if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    return by(node.operand.getText(source))
  if (isIfStatement(node) || isWhileStatement(node)) return negated(node.expression, source)
  if (isConditionalExpression(node)) return negated(node.condition, source)
  if (isThrowStatement(node) || (isExpressionStatement(node) && doesSomething(node.expression))) return by(';')
  if (isFunctionLikeDeclaration(node)) return returnedEarly(node)
  if (node.kind === SyntaxKind.TrueKeyword) return by('false')
  if (node.kind === SyntaxKind.FalseKeyword) return by('true')
  if (isTaggedTemplateExpression(node)) return changedSql(node.template, source)
  return isText(node) && node.end - start > 2 ? by(`''`) : []
}

function otherOperator({ operatorToken, left, right }: BinaryExpression, source: SourceFile): Change[] {
  const replacement = otherOperators[operatorToken.getText(source)]
  // Texts are joined by "+" too, and none is left of them but NaN.
  if (replacement === undefined || isText(left) || isText(right)) return []
  return [{ start: operatorToken.getStart(source), end: operatorToken.end, replacement }]
}

/** Not of a comparison or a negation, which are changed themselves. */
function negated(condition: Node, source: SourceFile): Change[] {
  if (isPrefixUnaryExpression(condition)) return []
  if (isBinaryExpression(condition) && /^[!=]==$/.test(condition.operatorToken.getText(source))) return []
  return [{ start: condition.getStart(source), end: condition.end, replacement: `!(${condition.getText(source)})` }]
}

/** An assignment that is gone leaves a program that does not compile, for the most part. */
function doesSomething(expression: Node): boolean {
  return (
    isCallExpression(expression) || [SyntaxKind.AwaitExpression, SyntaxKind.YieldExpression].includes(expression.kind)
  )
}

function returnedEarly(node: Node & { body?: Node | undefined }): Change[] {
  const { body } = node
  if (node.kind === SyntaxKind.Constructor || body === undefined || !isBlock(body)) return []
  const afterBrace = body.statements.pos
  return body.statements.length > 0 ? [{ start: afterBrace, end: afterBrace, replacement: ' return;' }] : []
}

/** A string that is a value: not the name of a property, and no statement in SQL. */
function isText(node: Node): boolean {
  if (!isStringLiteral(node) && !isNoSubstitutionTemplateLiteral(node) && !isTemplateExpression(node)) return false
  return !isTaggedTemplateExpression(node.parent) && !(isPropertyAssignment(node.parent) && node.parent.name === node)
}

const condition =
  /\b(?:where|and|or|on|when)\s+\(*((?:lower\([\w.]+\)|[\w.]+)\s+(=|<>|<=|>=|<|>)\s+(?:lower\([\w.]+\)|[\w.$]+))/g
const order = /\border by [\w., ]*\w(?= limit|\s*$)/gm
const unlessThere = /\bon conflict do nothing\b/g

function changedSql(template: Node, source: SourceFile): Change[] {
  const begin = template.getStart(source)
  const text = template.getText(source)
  return [
    ...text.matchAll(condition).flatMap(({ index, 0: all, 1: comparison = '', 2: operator = '' }) => {
      const start = begin + index + all.length - comparison.length
      const end = start + comparison.length
      const operatorAt = start + comparison.indexOf(` ${operator} `) + 1
      return [
        { start: operatorAt, end: operatorAt + operator.length, replacement: otherComparisons[operator] ?? '' },
        // As good as gone, but the number of values stays what it was.
        { start, end, replacement: `(${comparison} or true)` },
      ]
    }),
    ...text.matchAll(order).map(({ index, 0: all }) => {
      return { start: begin + index + all.length, end: begin + index + all.length, replacement: ' desc' }
    }),
    ...text.matchAll(unlessThere).map(({ index, 0: all }) => {
      return { start: begin + index, end: begin + index + all.length, replacement: '' }
    }),
  ]
}

function described(file: string, text: string, change: Change): Mutant {
  const line = text.slice(0, change.start).split('\n').length
  const before = text.slice(change.start, change.end)
  const shown = (code: string) => code.replaceAll(/\s+/g, ' ').trim().slice(0, 80)
  return { file, line, ...change, change: `${shown(before) || 'nothing'} → ${shown(change.replacement) || 'nothing'}` }
}
