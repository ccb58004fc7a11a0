/** CustomResourceDefinitions: defaults and checks. What they make the server do is in `crd/install.ts`. */
import { isRecord, type JsonRecord, recordOr } from '../../../is-record.ts';
import { parseStructuralSchema } from '../../crd/structural-schema.ts';
import { type FieldError, invalidValue, notSupported, required } from '../../status-error.ts';
import type { Strategy } from '../types.ts';

/** Held until the last object of the kind is gone. */
export const CRD_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export const CRD_STRATEGY: Strategy = {
  defaults: (object) => {
    const spec = recordOr(object['spec']);
    const names = recordOr(spec['names']);
    const kind = String(names['kind'] ?? '');
    return {
      ...object,
      spec: {
        ...spec,
        conversion: spec['conversion'] ?? { strategy: 'None' },
        names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
      },
    };
  },
  prepare: (object, old) => {
    if (old !== undefined) return object;
    const metadata = { ...recordOr(object['metadata']), finalizers: [CRD_FINALIZER] };
    return { ...object, metadata, status: initialStatus(recordOr(object['spec'])) };
  },
  validate: (object, old) => {
    const spec = recordOr(object['spec']);
    return [
      ...validateNames(spec, String(recordOr(object['metadata'])['name'] ?? '')),
      ...validateVersions(spec),
      ...(old === undefined ? [] : validateUnchanged(spec, recordOr(old['spec']))),
    ];
  },
};

/** The storage version, whose objects are in the store. */
export const versionsOf = (spec: JsonRecord): JsonRecord[] =>
  Array.isArray(spec['versions']) ? spec['versions'].filter(isRecord) : [];

const initialStatus = (spec: JsonRecord): JsonRecord => ({
  conditions: [],
  acceptedNames: { plural: '', kind: '' },
  storedVersions: versionsOf(spec)
    .filter(({ storage }) => storage === true)
    .map(({ name }) => name),
});

const validateNames = (spec: JsonRecord, name: string): FieldError[] => {
  const names = recordOr(spec['names']);
  const desired = `${String(names['plural'])}.${String(spec['group'])}`;
  return [
    ...(typeof spec['group'] === 'string' && spec['group'].includes('.')
      ? []
      : [invalidValue('spec.group', spec['group'], 'should be a domain with at least one dot')]),
    ...(names['plural'] ? [] : [required('spec.names.plural')]),
    ...(names['kind'] ? [] : [required('spec.names.kind')]),
    ...(name === desired ? [] : [invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]),
    ...(spec['scope'] === 'Cluster' || spec['scope'] === 'Namespaced'
      ? []
      : [notSupported('spec.scope', spec['scope'], ['Cluster', 'Namespaced'])]),
  ];
};

const validateVersions = (spec: JsonRecord): FieldError[] => {
  const versions = versionsOf(spec);
  if (versions.length === 0) return [required('spec.versions')];
  const stored = versions.filter(({ storage }) => storage === true);
  return [
    ...(stored.length === 1
      ? []
      : [invalidValue('spec.versions', stored.length, 'must have exactly one version marked as storage version')]),
    ...versions.flatMap((version, i) => validateSchema(version, `spec.versions[${i}].schema.openAPIV3Schema`)),
  ];
};

const validateSchema = (version: JsonRecord, field: string): FieldError[] => {
  const schema = recordOr(version['schema'])['openAPIV3Schema'];
  if (schema === undefined) return [required(field, 'schemas are required')];
  return parseStructuralSchema(schema).problems.map((problem) =>
    invalidValue(`${field}.${problem.field}`, null, problem.message),
  );
};

const validateUnchanged = (spec: JsonRecord, old: JsonRecord): FieldError[] =>
  ['group', 'scope']
    .filter((field) => spec[field] !== old[field])
    .map((field) => invalidValue(`spec.${field}`, spec[field], 'field is immutable'));
