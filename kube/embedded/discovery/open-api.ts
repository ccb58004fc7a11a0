/**
 * OpenAPI v3, as much as `kubectl` looks for: that writes take `fieldValidation`, so that the server does the checking,
 * and the schemas of CRDs for `kubectl explain`. The schemas of built-in kinds say only that they are objects.
 */
import { createHash } from 'node:crypto';
import { resourcePath } from '../../client/resource-path.ts';
import type { JsonRecord } from '../../is-record.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import { apiVersionOf } from '../registry.ts';

/** `/openapi/v3`: where the document of each group version is. */
export const openApiIndex = (definitions: readonly ResourceDefinition[]): JsonRecord => {
  const versions = Map.groupBy(definitions, pathOfVersion);
  return {
    paths: Object.fromEntries(
      [...versions].map(([path, own]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hashOf(own)}` }]),
    ),
  };
};

/** `/openapi/v3/apis/GROUP/VERSION`; undefined when it is not served. */
export const openApiDocument = (definitions: readonly ResourceDefinition[], path: string): JsonRecord | undefined => {
  const own = definitions.filter((definition) => pathOfVersion(definition) === path);
  if (own.length === 0) return undefined;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'embedded' },
    paths: Object.fromEntries(own.map((definition) => [objectPath(definition), { patch: patchOperation(definition) }])),
    components: {
      schemas: Object.fromEntries(own.map((definition) => [schemaName(definition), schemaOf(definition)])),
    },
  };
};

/** `/openapi/v2`, for clients that only want to know that it is there. */
export const openApiV2 = (): JsonRecord => ({
  swagger: '2.0',
  info: { title: 'Kubernetes', version: 'embedded' },
  paths: {},
  definitions: {},
});

const pathOfVersion = ({ group, version }: ResourceDefinition): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

const hashOf = (definitions: readonly ResourceDefinition[]): string => {
  const content = definitions.map(({ kind, schema }) => [kind, schema ?? null]);
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16).toUpperCase();
};

const objectPath = (definition: ResourceDefinition): string =>
  `${resourcePath(definition, { namespace: 'NAMESPACE' }).replace('NAMESPACE', '{namespace}')}/{name}`;

const gvk = ({ group, version, kind }: ResourceDefinition): JsonRecord => ({ group, version, kind });

const PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation', 'force'];

const patchOperation = (definition: ResourceDefinition): JsonRecord => ({
  operationId: `patch${apiVersionOf(definition)}${definition.kind}`,
  parameters: PARAMETERS.map((name) => ({ name, in: 'query', schema: { type: 'string' } })),
  requestBody: { content: { 'application/json-patch+json': {}, 'application/merge-patch+json': {} } },
  responses: { 200: { description: 'OK' } },
  'x-kubernetes-action': 'patch',
  'x-kubernetes-group-version-kind': gvk(definition),
});

const schemaName = ({ group, version, kind }: ResourceDefinition): string =>
  [...(group === '' ? ['core'] : group.split('.').toReversed()), version, kind].join('.');

const schemaOf = (definition: ResourceDefinition): JsonRecord => ({
  ...(definition.schema ?? { type: 'object' }),
  'x-kubernetes-group-version-kind': [gvk(definition)],
});
