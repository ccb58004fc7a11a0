/**
 * Phrases that do not come back, as an operator has to guess what they mean: docs/glossary.md has the words of the field.
 * In string literals of the product, which users see; in pages, as old messages stay there longest; in comments of manifests.
 */

interface WordRule {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** In messages, help texts, descriptions of metrics and fields. */
const MESSAGES: readonly WordRule[] = [
  { pattern: /\b(?:tells?|told)\b(?! apart)/, instead: '"report", "notify", "log"' },
  {
    pattern: /\b(?:is|as|are|of what is|both|nobody) wanted\b| wanted (?:of|for|twice)\b/,
    instead: '"desired", "requested"',
  },
  { pattern: /\banew\b/, instead: '"again", or a verb with "re-": recreate, restart' },
  { pattern: /\bwhat is (?:left )?there\b/, instead: '"actual state", "leftovers"' },
  { pattern: /\bis not there\b/, instead: '"does not exist"' },
  { pattern: /\bgiven (?:out|back)\b/, instead: '"allocated", "released"' },
  { pattern: /\btak(?:e|es|en) away\b/, instead: '"remove", "delete"' },
  { pattern: /\brequested are\b/, instead: '"are requested"' },
  { pattern: /\bunknown yet\b/, instead: '"not known yet"' },
  { pattern: /\bc[ao]me to rest\b/, instead: '"settle", "converge"' },
  { pattern: /\bthat others have\b/, instead: '"that belong to other pods" (nodes, networks)' },
  { pattern: /\bthat they cannot have\b/, instead: '"that are not allowed"' },
  { pattern: /\bprogrammed as it is\b/, instead: '"with its configuration"' },
];

/** In messages and pages. */
const EVERYWHERE: readonly WordRule[] = [
  {
    // Not the account, nor the name of an object: red/nobody, K8S_POD_NAME=nobody.
    pattern: /(?<![/=])\b(?:nobody|somebody)\b/i,
    instead: 'the program, user or node that acts, or the passive',
  },
  { pattern: /\bthe way to the\b|\bway out\b|\bon the way\b/, instead: '"path", "route", "connection"' },
  { pattern: /\bnot as it should be\b/, instead: '"differs from the desired state", "is the first problem"' },
  { pattern: /\botherwise than\b/, instead: '"differs from"' },
  { pattern: /\bas it is wanted\b|\bwhat is wanted\b/, instead: '"the desired state"' },
  { pattern: /\bone of both\b/, instead: '"one of them"' },
  { pattern: /\bcounts? for nobody\b/, instead: '"is ignored"' },
  { pattern: /\bthat are to have it\b/, instead: '"that need it"' },
  { pattern: /\bhas told\b/, instead: '"has reported"' },
  { pattern: /\bnot for you to\b/, instead: '"you may not"' },
  { pattern: /\bcounts? on no\b/, instead: '"belongs to no"' },
  { pattern: /\b(?:can|cannot) be (?:had|told)\b/, instead: '"is not supported", "cannot be determined"' },
  { pattern: /\brow is in the way\b/, instead: '"conflicts"' },
  { pattern: /\b(?:is|are|was|were) told\b/, instead: '"is reported", "is notified"' },
  { pattern: /\btak(?:es|en) away\b/, instead: '"removed", "deleted"' },
];

/** One message per rule that a literal of the source breaks; what stands in comments or in `${}` is not looked at. */
export const quaintMessages = (path: string, source: string): string[] =>
  broken(path, literalsOf(source).join('\n'), [...MESSAGES, ...EVERYWHERE]);

/** The same for a page in Markdown, or a manifest with its comments. Lines may end anywhere in a phrase. */
export const quaintPage = (path: string, text: string): string[] =>
  broken(path, text.replaceAll(/\s+(?:# )?/g, ' '), EVERYWHERE);

/** Of a changelog, what is not released yet. */
export const unreleasedOf = (changelog: string): string =>
  /^## \[Unreleased\]$([\s\S]*?)(?=^## \[|(?![\s\S]))/m.exec(changelog)?.[1] ?? '';

const broken = (path: string, text: string, rules: readonly WordRule[]): string[] =>
  rules.flatMap(({ pattern, instead }) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [`${path} says "${found.trim()}", but should use ${instead}`];
  });

/** Comments are matched first, so that quotes in them begin no literal. */
const TOKENS = /\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

const literalsOf = (source: string): string[] =>
  (source.match(TOKENS) ?? [])
    .filter((token) => !token.startsWith('/'))
    .map((token) => token.replaceAll(/\$\{[^{}]*\}/g, '…'));
