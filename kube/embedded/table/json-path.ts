/** The part of kubectl's JSONPath that printer columns use: fields, indexes, `[*]`, `..field` and filters on one field. */
import { isRecord } from '../../is-record.ts';
import { jsonEqual } from '../../json-equal.ts';

type Step = (value: unknown) => unknown[];

/** All values at the path; none when the path can't be read. */
export const evaluateJsonPath = (path: string, object: unknown): unknown[] => {
  const steps = parseSteps(path);
  if (steps === undefined) return [];
  return steps.reduce<unknown[]>((values, step) => values.flatMap(step), [object]);
};

/** `.a`, `..a`, `.a\.b`, `['a']`, `[0]`, `[*]`, `[?(@.a=="b")]`; alternately matched at the start of what is left. */
const TOKEN =
  /^(?:\.\.([^.[\\]+)|\.((?:\\.|[^.[\\])+)|\['((?:[^'\\]|\\.)*)'\]|\[(-?\d+)\]|\[(\*)\]|\[\?\(@\.([^=!<>\s]+)\s*(==|!=)\s*(.+?)\)\])/;

const parseSteps = (path: string): Step[] | undefined => {
  const steps: Step[] = [];
  let rest = path.replace(/^\{(.*)\}$/, '$1');
  if (rest !== '' && !/^[.[]/.test(rest)) rest = `.${rest}`;
  while (rest !== '') {
    const match = TOKEN.exec(rest);
    if (match === null) return undefined;
    steps.push(stepOf(match));
    rest = rest.slice(match[0].length);
  }
  return steps;
};

const stepOf = ([, anywhere, dotted, quoted, index, star, field, operator, literal]: RegExpExecArray): Step => {
  if (anywhere !== undefined) return descendants(anywhere);
  const name = dotted ?? quoted;
  if (name !== undefined) return member(name.replaceAll(/\\(.)/g, '$1'));
  if (index !== undefined) return (value) => (Array.isArray(value) ? defined(value.at(Number(index))) : []);
  if (star !== undefined) return (value) => elements(value);
  const desired = literalOf(literal ?? '');
  const matches = (item: unknown): boolean =>
    evaluateJsonPath(`.${field}`, item).some((found) => jsonEqual(found, desired)) === (operator === '==');
  return (value) => elements(value).filter(matches);
};

const member =
  (name: string): Step =>
  (value) =>
    isRecord(value) ? defined(value[name]) : [];

/** Outermost first. */
const descendants =
  (name: string): Step =>
  (value) => [...member(name)(value), ...elements(value).flatMap(descendants(name))];

const defined = (value: unknown): unknown[] => (value === undefined ? [] : [value]);

const elements = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
};

const literalOf = (text: string): unknown => {
  const quoted = /^(['"])(.*)\1$/.exec(text)?.[2];
  if (quoted !== undefined) return quoted;
  if (text === 'true' || text === 'false') return text === 'true';
  return Number.isNaN(Number(text)) ? text : Number(text);
};
