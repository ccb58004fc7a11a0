/**
 * The rules in CEL that a CRD's schema has (`x-kubernetes-validations`), each of a value and, where it says `oldSelf`, of what that was
 * before. As on a real server a value that has not changed is not held to rules that are newer than it
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting).
 */
import { messageOf } from '../../../base/error-message.ts';
import { isRecord } from '../../is-record.ts';
import { jsonEqual } from '../../json-equal.ts';
import { type FieldError, invalidValue } from '../status-error.ts';
import { type CelRule, compileRule } from './cel.ts';
import type { StructuralSchema, ValidationRule } from './structural-schema.ts';

/** @param object keeps the schema otherwise @param old undefined: it is new */
export const validateRules = (schema: StructuralSchema, object: unknown, old: unknown): FieldError[] =>
  validate(schema, { value: object, old, path: '', isParentSame: false });

interface Place {
  readonly value: unknown;
  /** Of the same field or item; undefined: there was none, or nobody can say which. */
  readonly old: unknown;
  readonly path: string;
  readonly isParentSame: boolean;
}

const validate = (schema: StructuralSchema, place: Place): FieldError[] => {
  const { value, old, isParentSame } = place;
  const isSame = old === undefined ? isParentSame : jsonEqual(value, old);
  return [
    ...rulesOf(schema).flatMap((rule) => (counts(rule, old, isSame) ? broken(rule, schema, place) : [])),
    ...(Array.isArray(value) ? inItems(schema, value, place, isSame) : []),
    ...(isRecord(value) ? inFields(schema, value, place, isSame) : []),
  ];
};

const counts = ({ isTransition }: CompiledRule, old: unknown, isSame: boolean): boolean =>
  isTransition ? old !== undefined : !isSame;

interface CompiledRule extends ValidationRule {
  readonly holds: CelRule;
  readonly isTransition: boolean;
}

/** Compiled once for each schema, which lives as long as its CRD. A rule with functions that nobody has here is left out. */
const rulesOf = (schema: StructuralSchema): readonly CompiledRule[] => {
  const rules = schema['x-kubernetes-validations'];
  if (rules === undefined) return [];
  const known = compiled.get(rules);
  if (known !== undefined) return known;
  const made = rules.flatMap((rule): CompiledRule[] => {
    const holds = compileRule(rule.rule);
    return holds === undefined ? [] : [{ ...rule, holds, isTransition: /\boldSelf\b/.test(rule.rule) }];
  });
  compiled.set(rules, made);
  return made;
};

const compiled = new WeakMap<readonly ValidationRule[], readonly CompiledRule[]>();

const broken = (
  { rule, message = `failed rule: ${rule}`, fieldPath = '', holds }: CompiledRule,
  schema: StructuralSchema,
  { value, old, path }: Place,
): FieldError[] => {
  const at = `${path}${fieldPath}`.replace(/^\./, '') || '<nil>';
  try {
    const isKept = holds({ self: celOf(schema, value), oldSelf: celOf(schema, old) });
    return isKept ? [] : [invalidValue(at, shown(value), message)];
  } catch (error) {
    return [invalidValue(at, shown(value), `${messageOf(error)} evaluating rule: ${message}`)];
  }
};

/** What the server says of a value that is not plain. */
const shown = (value: unknown): unknown => (Array.isArray(value) ? 'array' : isRecord(value) ? 'object' : value);

/** Items of a list have an earlier self only where keys say which. */
const inItems = (
  schema: StructuralSchema,
  value: readonly unknown[],
  { old, path }: Place,
  isParentSame: boolean,
): FieldError[] => {
  const { items } = schema;
  if (items === undefined) return [];
  const keys = schema['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined;
  const identityOf = (item: unknown): string => JSON.stringify(keys?.map((key) => isRecord(item) && item[key]));
  const before = keys === undefined || !Array.isArray(old) ? [] : old;
  return value.flatMap((item, index) => {
    const own = before.find((one) => identityOf(one) === identityOf(item));
    return validate(items, { value: item, old: own, path: `${path}[${index}]`, isParentSame });
  });
};

const inFields = (
  { properties = {}, additionalProperties }: StructuralSchema,
  value: Readonly<Record<string, unknown>>,
  { old, path }: Place,
  isParentSame: boolean,
): FieldError[] =>
  Object.entries(value).flatMap(([name, child]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (typeof own !== 'object' || child === undefined || child === null) return [];
    const before = isRecord(old) ? old[name] : undefined;
    return validate(own, { value: child, old: before, path: path === '' ? name : `${path}.${name}`, isParentSame });
  });

/** CEL tells whole numbers from others by type, which JSON does not. */
const celOf = (schema: StructuralSchema | undefined, value: unknown): unknown => {
  if (typeof value === 'number') return schema?.type === 'number' ? value : BigInt(Math.trunc(value));
  if (Array.isArray(value)) return value.map((item) => celOf(schema?.items, item));
  if (!isRecord(value)) return value ?? null;
  const fields = Object.entries(value).filter(([, child]) => child !== null && child !== undefined);
  return Object.fromEntries(fields.map(([name, child]) => [name, celOf(schema?.properties?.[name], child)]));
};
