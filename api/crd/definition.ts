/** CustomResourceDefinition objects (apiextensions.k8s.io/v1) and the files that they are written to. */
import { stringify } from 'yaml';
import type { StructuralSchema } from './structural.ts';

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0: only in the wide output. */
  readonly priority?: number;
}

export interface CrdDescription {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  readonly description: string;
  readonly columns: readonly PrinterColumn[];
  /** The one name that an object may have. */
  readonly onlyName?: string;
  /** Absent: the object has no desired state, it only reports. */
  readonly spec?: StructuralSchema;
  readonly status?: StructuralSchema;
  /** Whoever writes the object writes its status with it, in one request: there is no subresource of it. */
  readonly isReport?: true;
  /** The API server refuses an object without. */
  readonly required: readonly ('spec' | 'status')[];
}

export const toCrd = (crd: CrdDescription): Readonly<Record<string, unknown>> => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${crd.plural}.${crd.group}` },
  spec: {
    group: crd.group,
    names: {
      kind: crd.kind,
      listKind: `${crd.kind}List`,
      plural: crd.plural,
      singular: crd.singular,
      // An empty list is not kept by the server: kubectl would send it again and again.
      ...(crd.shortNames.length > 0 && { shortNames: crd.shortNames }),
      ...(crd.categories.length > 0 && { categories: crd.categories }),
    },
    scope: crd.scope,
    versions: [
      {
        name: crd.version,
        served: true,
        storage: true,
        additionalPrinterColumns: crd.columns,
        schema: { openAPIV3Schema: rootSchema(crd) },
        ...(crd.status === undefined || crd.isReport ? {} : { subresources: { status: {} } }),
      },
    ],
  },
});

export const crdYaml = (crd: CrdDescription): string =>
  `# Generated from the schemas of api/ by \`make gen\`. Do not edit.\n${stringify(toCrd(crd), { lineWidth: 0, aliasDuplicateObjects: false })}`;

const rootSchema = (crd: CrdDescription): Readonly<Record<string, unknown>> => ({
  description: crd.description,
  type: 'object',
  ...(crd.required.length > 0 ? { required: crd.required } : {}),
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata:
      crd.onlyName === undefined
        ? { type: 'object' }
        : {
            type: 'object',
            properties: { name: { description: 'The one name.', type: 'string', pattern: `^${crd.onlyName}$` } },
          },
    ...(crd.spec === undefined ? {} : { spec: crd.spec }),
    ...(crd.status === undefined ? {} : { status: crd.status }),
  },
});
