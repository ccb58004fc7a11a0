/** Field selectors: `metadata.name=a,spec.nodeName!=b`. Which fields may be asked for depends on the kind. */
import { badRequest } from '../status-error.ts';

export type FieldSelector = (object: unknown) => boolean;

/** What every kind can be selected by. */
const METADATA_FIELDS = ['metadata.name', 'metadata.namespace'];

/**
 * @param fields the kind's own, as paths in the object
 * @throws StatusError 400 for another field
 */
export const parseFieldSelector = (text: string, fields: readonly string[]): FieldSelector => {
  const known = new Set([...METADATA_FIELDS, ...fields]);
  const requirements = text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => parseRequirement(part, known));
  return (object) => requirements.every((matches) => matches(object));
};

/** `metadata.name=NAME` alone: the store can look that up. */
export const selectedName = (text: string): string | undefined => /^metadata\.name==?([^,!=]+)$/.exec(text)?.[1];

const parseRequirement = (text: string, known: ReadonlySet<string>): FieldSelector => {
  const [, field = '', operator, value = ''] = /^\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(text) ?? [];
  if (operator === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${text}'`);
  if (!known.has(field)) throw badRequest(`field label not supported: ${field}`);
  const path = field.split('.');
  return (object) => (fieldText(object, path) === value) === (operator !== '!=');
};

/** As the server has it: an absent field is the empty text, or `false`. */
const fieldText = (object: unknown, path: readonly string[]): string => {
  let value = object;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return '';
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return value === undefined || value === null ? '' : String(value);
};
