/** The rules of kinds that need few. */
import { type JsonRecord, recordOr } from '../../../is-record.ts';
import { jsonEqual } from '../../../json-equal.ts';
import { type FieldError, invalidValue, notSupported, required } from '../../status-error.ts';
import type { Strategy } from '../types.ts';

/** Nothing is checked but the name. */
export const STORED: Strategy = {};
/** Names of RBAC objects may be anything that a URL can carry, for example `system:node`. */
export const RBAC: Strategy = { nameRule: 'path', createsOnUpdate: true };
/** Kinds that a PUT creates. */
export const UPSERTED: Strategy = { createsOnUpdate: true };
export const SERVICE_ACCOUNT_STRATEGY: Strategy = { returnsDeleted: true };

/** The label by which policies select namespaces by name; the finalizer goes when the namespace is empty. */
export const NAMESPACE_STRATEGY: Strategy = {
  nameRule: 'label',
  defaults: (object) => {
    const metadata = recordOr(object['metadata']);
    const labels = { ...recordOr(metadata['labels']), 'kubernetes.io/metadata.name': metadata['name'] };
    return { ...object, metadata: { ...metadata, labels } };
  },
  prepare: (object, old) =>
    old === undefined ? { ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } } : object,
};

export const CONFIG_MAP_STRATEGY: Strategy = {
  defaults: (object) => withoutEmpty(object, ['data', 'binaryData']),
  validate: (object, old) => [
    ...validateKeys(object, ['data', 'binaryData']),
    ...immutable(object, old, ['data', 'binaryData']),
  ],
};

export const SECRET_STRATEGY: Strategy = {
  defaults: (object) => {
    const { stringData, ...rest } = object;
    const encoded = Object.entries(recordOr(stringData)).map(([key, value]) => [
      key,
      Buffer.from(String(value)).toString('base64'),
    ]);
    const data = { ...recordOr(rest['data']), ...Object.fromEntries(encoded) };
    return { ...rest, ...(Object.keys(data).length === 0 ? {} : { data }), type: rest['type'] ?? 'Opaque' };
  },
  validate: (object, old) => [...validateKeys(object, ['data']), ...immutable(object, old, ['data'])],
};

/** Go's `omitempty`. */
const withoutEmpty = (object: JsonRecord, fields: readonly string[]): JsonRecord =>
  Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !fields.includes(name) || Object.keys(recordOr(value)).length > 0),
  );

/** Keys become file names in volumes. */
const validateKeys = (object: JsonRecord, fields: readonly string[]): FieldError[] =>
  fields.flatMap((field) =>
    Object.keys(recordOr(object[field]))
      .filter((key) => !/^[-._a-zA-Z0-9]{1,253}$/.test(key) || key === '.' || key.startsWith('..'))
      .map((key) =>
        invalidValue(
          `${field}[${key}]`,
          key,
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ),
      ),
  );

/** `immutable: true` of ConfigMaps and Secrets. */
const immutable = (object: JsonRecord, old: JsonRecord | undefined, fields: readonly string[]): FieldError[] =>
  old?.['immutable'] === true
    ? fields
        .filter((field) => !jsonEqual(object[field], old[field]))
        .map((field) => ({
          field,
          reason: 'FieldValueForbidden' as const,
          message: 'Forbidden: field is immutable when `immutable` is set',
        }))
    : [];

const ADDRESS_TYPES = ['IPv4', 'IPv6', 'FQDN'];

export const ENDPOINT_SLICE_STRATEGY: Strategy = {
  defaults: (object) => ({
    ...object,
    endpoints: object['endpoints'] ?? null,
    ports: Array.isArray(object['ports'])
      ? object['ports'].map((port: unknown) => ({ name: '', protocol: 'TCP', ...recordOr(port) }))
      : (object['ports'] ?? null),
  }),
  validate: (object, old) => {
    const type = object['addressType'];
    if (type === undefined) return [required('addressType')];
    if (!ADDRESS_TYPES.includes(String(type))) return [notSupported('addressType', type, ADDRESS_TYPES)];
    return old !== undefined && old['addressType'] !== type
      ? [invalidValue('addressType', type, 'field is immutable')]
      : [];
  },
};

export const NETWORK_POLICY_STRATEGY: Strategy = {
  defaults: (object) => {
    const spec = recordOr(object['spec']);
    const types = Array.isArray(spec['egress']) && spec['egress'].length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    const given = Array.isArray(spec['policyTypes']) && spec['policyTypes'].length > 0;
    return {
      ...object,
      spec: {
        ...spec,
        podSelector: spec['podSelector'] ?? {},
        policyTypes: given ? spec['policyTypes'] : types,
        ...withProtocols(spec, 'ingress'),
        ...withProtocols(spec, 'egress'),
      },
    };
  },
};

/** Ports of rules are TCP unless they say something else. */
const withProtocols = (spec: JsonRecord, direction: string): JsonRecord => {
  const rules = spec[direction];
  if (!Array.isArray(rules)) return {};
  return {
    [direction]: rules.map((rule: unknown) => {
      const { ports, ...rest } = recordOr(rule);
      if (!Array.isArray(ports)) return rule;
      return { ...rest, ports: ports.map((port: unknown) => ({ protocol: 'TCP', ...recordOr(port) })) };
    }),
  };
};

/** A workload selects the pods of its own template. */
export const WORKLOAD_STRATEGY: Strategy = {
  validate: (object) => {
    const spec = recordOr(object['spec']);
    return [
      ...(spec['selector'] === undefined ? [required('spec.selector')] : []),
      ...(recordOr(recordOr(spec['template'])['spec'])['containers'] === undefined
        ? [required('spec.template.spec.containers')]
        : []),
    ];
  },
};
