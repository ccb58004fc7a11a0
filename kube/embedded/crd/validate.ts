/** Checks custom resources against their CRD's schema, with the words of a real server (kube-openapi validation). */
import { isIPv4, isIPv6 } from 'node:net';
import { isRecord } from '../../is-record.ts';
import { jsonEqual } from '../../json-equal.ts';
import { type FieldError, invalidValue, notSupported, required } from '../status-error.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** @param path of the value, empty at the root */
export const validateValue = (schema: StructuralSchema, value: unknown, path: string): FieldError[] => {
  if (value === null && schema.nullable === true) return [];
  const mistyped = typeError(schema, value, path);
  if (mistyped !== undefined) return [mistyped];
  return [
    ...validateEnum(schema, value, path),
    ...(typeof value === 'number' ? validateNumber(schema, value, path) : []),
    ...(typeof value === 'string' ? validateString(schema, value, path) : []),
    ...(Array.isArray(value) ? validateArray(schema, value, path) : []),
    ...(isRecord(value) ? validateObject(schema, value, path) : []),
    ...validateAlternatives(schema, value, path),
  ];
};

const shown = (path: string): string => path || '<nil>';

const bodyError = (path: string, value: unknown, problem: string): FieldError =>
  invalidValue(shown(path), value, `${path} in body ${problem}`);

const typeError = (schema: StructuralSchema, value: unknown, path: string): FieldError | undefined => {
  const actual = typeOf(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    return actual === 'integer' || actual === 'string' ? undefined : mistype(path, 'integer,string', actual);
  }
  const { type } = schema;
  if (type === undefined || type === actual || (type === 'number' && actual === 'integer')) return undefined;
  return mistype(path, type === 'integer' && actual === 'number' ? (schema.format ?? type) : type, actual);
};

const mistype = (path: string, desired: string, actual: string): FieldError => ({
  field: shown(path),
  reason: 'FieldValueTypeInvalid',
  message: `Invalid value: "${actual}": ${path} in body must be of type ${desired}: "${actual}"`,
});

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
};

const validateEnum = (schema: StructuralSchema, value: unknown, path: string): FieldError[] =>
  schema.enum === undefined || schema.enum.some((allowed) => jsonEqual(allowed, value))
    ? []
    : [notSupported(shown(path), value, schema.enum)];

const validateNumber = (schema: StructuralSchema, value: number, path: string): FieldError[] => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const problems = [
    minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)
      ? `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`
      : undefined,
    maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)
      ? `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`
      : undefined,
    multipleOf !== undefined && value % multipleOf !== 0 ? `should be a multiple of ${multipleOf}` : undefined,
  ];
  return problems.flatMap((problem) => (problem === undefined ? [] : [bodyError(path, value, problem)]));
};

const validateString = (schema: StructuralSchema, value: string, path: string): FieldError[] => {
  const length = [...value].length;
  const { minLength, maxLength, pattern, format } = schema;
  return [
    ...(minLength !== undefined && length < minLength
      ? [bodyError(path, value, `should be at least ${minLength} chars long`)]
      : []),
    ...(maxLength !== undefined && length > maxLength
      ? [
          {
            field: shown(path),
            reason: 'FieldValueTooLong' as const,
            message: `Too long: may not be more than ${maxLength} bytes`,
          },
        ]
      : []),
    ...(pattern !== undefined && !new RegExp(pattern, 'u').test(value)
      ? [bodyError(path, value, `should match '${pattern}'`)]
      : []),
    ...(format !== undefined && FORMATS[format]?.(value) === false
      ? [bodyError(path, value, `must be of type ${format}: ${JSON.stringify(value)}`)]
      : []),
  ];
};

/** Formats that are not here are not checked, as on a real server for those it does not know. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text)),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: (text) => isCidr(text),
  mac: (text) => /^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text),
};

const isCidr = (text: string): boolean => {
  const [, address = '', length] = /^(.+)\/(\d{1,3})$/.exec(text) ?? [];
  return (isIPv4(address) && Number(length) <= 32) || (isIPv6(address) && Number(length) <= 128);
};

const validateArray = (schema: StructuralSchema, value: readonly unknown[], path: string): FieldError[] => {
  const { minItems, maxItems, items } = schema;
  return [
    ...(minItems !== undefined && value.length < minItems
      ? [bodyError(path, value.length, `should have at least ${minItems} items`)]
      : []),
    ...(maxItems !== undefined && value.length > maxItems ? [tooMany(path, value.length, maxItems)] : []),
    ...(items === undefined ? [] : value.flatMap((item, i) => validateValue(items, item, `${path}[${i}]`))),
    ...duplicates(schema, value, path),
  ];
};

const tooMany = (path: string, count: number, max: number): FieldError => ({
  field: shown(path),
  reason: 'FieldValueTooMany',
  message: `Too many: ${count}: must have at most ${max} items`,
});

const duplicates = (schema: StructuralSchema, value: readonly unknown[], path: string): FieldError[] => {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map' && schema.uniqueItems !== true) return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  return value.flatMap((item, i) => {
    const identity =
      type === 'map' && isRecord(item)
        ? Object.fromEntries(keys.map((key) => [key, item[key] ?? schema.items?.properties?.[key]?.default]))
        : item;
    const text = JSON.stringify(identity) ?? '';
    if (!seen.has(text)) {
      seen.add(text);
      return [];
    }
    return [{ field: `${path}[${i}]`, reason: 'FieldValueDuplicate' as const, message: `Duplicate value: ${text}` }];
  });
};

const validateObject = (
  schema: StructuralSchema,
  value: Readonly<Record<string, unknown>>,
  path: string,
): FieldError[] => {
  const { properties = {}, additionalProperties, minProperties, maxProperties } = schema;
  const size = Object.keys(value).length;
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const missing = (schema.required ?? []).filter((name) => value[name] === undefined || value[name] === null);
  return [
    ...missing.map((name) => required(below(name))),
    ...(minProperties !== undefined && size < minProperties
      ? [bodyError(path, size, `should have at least ${minProperties} properties`)]
      : []),
    ...(maxProperties !== undefined && size > maxProperties ? [tooMany(path, size, maxProperties)] : []),
    ...Object.entries(value).flatMap(([name, child]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      if (typeof own !== 'object' || child === undefined || missing.includes(name)) return [];
      return validateValue(own, child, below(name));
    }),
  ];
};

const validateAlternatives = (schema: StructuralSchema, value: unknown, path: string): FieldError[] => {
  const matching = (schemas: readonly StructuralSchema[] | undefined): number =>
    (schemas ?? []).filter((alternative) => validateValue(alternative, value, path).length === 0).length;
  const { allOf, anyOf, oneOf, not } = schema;
  const wrong = (problem: string): FieldError => invalidValue(shown(path), value, `${path} in body ${problem}`);
  return [
    ...(allOf ?? []).flatMap((part) => validateValue(part, value, path)),
    ...(anyOf !== undefined && matching(anyOf) === 0 ? [wrong('must validate at least one schema (anyOf)')] : []),
    ...(oneOf !== undefined && matching(oneOf) !== 1
      ? [wrong(`must validate one and only one schema (oneOf). Found ${matching(oneOf) || 'none'} valid`)]
      : []),
    ...(not !== undefined && matching([not]) === 1 ? [wrong('must not validate the schema (not)')] : []),
  ];
};
