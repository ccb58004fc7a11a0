/** The names of metrics and labels in an expression of PromQL. Its syntax is promtool's matter. */

export interface PromqlNames {
  readonly metrics: readonly string[];
  /** By the metric that they are matched at; those of `by (…)` and the like are of all metrics of the expression. */
  readonly matched: readonly { readonly metric: string; readonly label: string }[];
  readonly grouped: readonly string[];
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset']);

export const namesIn = (expression: string): PromqlNames => {
  // Texts may contain anything; nothing that follows is to be found in one.
  const plain = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  const grouped = [...plain.matchAll(GROUPING)].flatMap(([, list = '']) => words(list));
  const withoutGroups = plain.replaceAll(GROUPING, ' ');
  const selectors = [...withoutGroups.matchAll(/([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}/g)];
  const matched = selectors.flatMap(([, metric = '', list = '']) =>
    [...list.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => ({ metric, label })),
  );
  const bare = withoutGroups.replaceAll(/\{[^}]*\}/g, ' ').replaceAll(/\[[^\]]*\]/g, ' ');
  const metrics = [...bare.matchAll(/(?<![\w.:$])([a-zA-Z_:][\w:]*)(?![\w:]*\s*\()/g)].map(([, name = '']) => name);
  // What is followed by a bracket is a function, or an aggregation.
  return { metrics: [...new Set(metrics.filter((name) => !WORDS.has(name)))], matched, grouped };
};

const words = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
