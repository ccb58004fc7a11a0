/**
 * The border: every `parseX` of this folder goes through here, so that whatever comes in, what comes out is a typed value
 * or an `ApiError` whose message names the field.
 */
import type { z } from 'zod';
import { messageOf } from '../base/error-message.ts';
import { ApiError, type ApiErrorCode } from './errors.ts';
import { joinPath } from './field-path.ts';

/** @throws ApiError ERR_API_FIELD, or ERR_API_RULE for a rule over several fields; it names the first three findings */
export const parseWith = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  object: string,
): z.output<Schema> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues;
  const first = issues[0];
  const messages = issues.slice(0, 3).map((issue) => describeIssue(issue, value));
  const more = issues.length - messages.length;
  throw new ApiError(
    first === undefined ? 'ERR_API_FIELD' : codeOf(first),
    more > 0 ? `${messages.join('; ')}; and ${more} more` : messages.join('; '),
    { object, field: joinPath(first?.path ?? []) },
  );
};

/** @throws ApiError ERR_API_SYNTAX when the text is not JSON, otherwise as `parseWith` */
export const parseJsonWith = <Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  object: string,
): z.output<Schema> => parseWith(schema, parseJson(text, object), object);

/** @throws ApiError ERR_API_SYNTAX */
export const parseJson = (text: string, object: string): unknown => {
  try {
    return readJson(text);
  } catch (cause) {
    throw new ApiError('ERR_API_SYNTAX', `not JSON: ${syntaxMessage(cause, text)}`, { object, cause });
  }
};

/**
 * `JSON.parse` for text from outside. It reads any depth, but what walks the value afterwards needs a stack for it: one
 * annotation of many brackets would stop whoever meets it.
 * @throws SyntaxError
 */
export const readJson = (text: string): unknown => {
  const value: unknown = JSON.parse(text);
  if (mayBeDeep(text) && isDeeperThan(MAX_JSON_DEPTH, value))
    throw new SyntaxError(`nested more than ${MAX_JSON_DEPTH} levels deep`);
  return value;
};

/** Nothing that we read has more than ten. */
const MAX_JSON_DEPTH = 64;

/** Whether there are so many brackets: what most texts have not, needs no walk. */
const mayBeDeep = (text: string): boolean => {
  let open = 0;
  for (let at = 0; at < text.length && open <= MAX_JSON_DEPTH; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OBJECT || code === ARRAY) open += 1;
  }
  return open > MAX_JSON_DEPTH;
};

const OBJECT = '{'.charCodeAt(0);
const ARRAY = '['.charCodeAt(0);

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item)));

const syntaxMessage = (cause: unknown, text: string): string =>
  text.trim() === '' ? 'the text is empty' : messageOf(cause);

type Issue = z.core.$ZodIssue;

/** A rule over several fields marks its issues with `params.rule`, see `rules.ts`. */
const codeOf = (issue: Issue): ApiErrorCode =>
  issue.code === 'custom' && issue.params?.['rule'] === true ? 'ERR_API_RULE' : 'ERR_API_FIELD';

const describeIssue = (issue: Issue, root: unknown): string => {
  const path = joinPath(issue.path);
  const text = problem(issue, valueAt(root, issue.path));
  return path === '' ? text : `${path}: ${text}`;
};

const problem = (issue: Issue, value: unknown): string => {
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined ? 'is required' : `must be ${article(issue.expected)}, is ${kindOf(value)}`;
    case 'invalid_value':
      return value === undefined
        ? 'is required'
        : `must be ${issue.values.map((one) => JSON.stringify(one)).join(' or ')}, is ${shown(value)}`;
    case 'too_small':
      return `must ${bound(issue.origin, 'at least', issue.minimum)}${measured(issue.origin, value)}`;
    case 'too_big':
      return `must ${bound(issue.origin, 'at most', issue.maximum)}${measured(issue.origin, value)}`;
    case 'invalid_format':
      return `${shown(value)} does not match ${issue.pattern ?? issue.format}`;
    case 'unrecognized_keys':
      return `unknown field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    default:
      return issue.message;
  }
};

const bound = (origin: string, relation: string, limit: number | bigint): string => {
  if (origin === 'array') return `have ${relation} ${limit} item${limit === 1 ? '' : 's'}`;
  if (origin === 'string') return `have ${relation} ${limit} character${limit === 1 ? '' : 's'}`;
  return `be ${relation} ${limit}`;
};

/** Items of a list that was written as text are not counted here: the text is the value. */
const measured = (origin: string, value: unknown): string => {
  if (origin === 'array') return Array.isArray(value) ? `, has ${value.length}` : '';
  return typeof value === 'string' && value.length > 60 ? `, has ${value.length}` : `, is ${shown(value)}`;
};

const article = (expected: string): string => {
  if (expected === 'int') return 'an integer';
  return `${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected === 'record' ? 'map' : expected}`;
};

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : article(typeof value);
};

const shown = (value: unknown): string => {
  if (typeof value === 'object') return kindOf(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

const valueAt = (root: unknown, path: readonly PropertyKey[]): unknown => {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
};
