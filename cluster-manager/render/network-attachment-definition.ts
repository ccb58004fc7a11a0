/** The NetworkAttachmentDefinition of a network in one namespace. Pure. */
import { NAD_API_VERSION, UDN_API_VERSION, UDN_FINALIZER, UDN_LABEL } from '../../api/names.ts';
import { formatNetConf, type NetConf, parseNetConf, sameMeaning } from '../../api/net-conf.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';

export interface NadManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly finalizers: readonly string[];
    readonly ownerReferences: readonly {
      readonly apiVersion: string;
      readonly kind: string;
      readonly name: string;
      readonly uid: string;
      readonly controller: true;
      readonly blockOwnerDeletion: true;
    }[];
  };
  readonly spec: { readonly config: string };
}

export const renderNad = ({ kind, metadata }: NetworkFacts, namespace: string, conf: NetConf): NadManifest => ({
  apiVersion: NAD_API_VERSION,
  kind: 'NetworkAttachmentDefinition',
  metadata: {
    name: metadata.name,
    namespace,
    labels: { ...metadata.labels, [UDN_LABEL]: '' },
    annotations: inheritedAnnotations(metadata.annotations),
    finalizers: [UDN_FINALIZER],
    ownerReferences: [
      {
        apiVersion: UDN_API_VERSION,
        kind,
        name: metadata.name,
        uid: metadata.uid ?? '',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: { config: formatNetConf(conf) },
});

/** As an API server counts them. */
export const annotationBytes = ({ metadata }: NadManifest): number =>
  Object.entries(metadata.annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );

/** True when the NAD says all that the manifest says; annotations of ours and labels of others may be there too. */
export const isRendered = (nad: NadFacts, { metadata, spec }: NadManifest): boolean =>
  hasConfig(nad, spec.config, metadata) &&
  hasAll(nad.metadata.labels, metadata.labels) &&
  hasAll(nad.metadata.annotations, metadata.annotations) &&
  metadata.finalizers.every((finalizer) => nad.metadata.finalizers.includes(finalizer)) &&
  metadata.ownerReferences.every((desired) =>
    nad.metadata.ownerReferences.some((actual) => isSameOwner(actual, desired)),
  );

const hasConfig = ({ config, conf }: NadFacts, desired: string, metadata: NadManifest['metadata']): boolean => {
  if (config === desired) return true;
  const rendered = conf === undefined ? undefined : parseNetConf(desired, metadata);
  return conf !== undefined && rendered !== undefined && sameMeaning(conf, rendered);
};

/** Of another kind or without `controller` it would not be found, and not be kept. */
const isSameOwner = (
  actual: NadFacts['metadata']['ownerReferences'][number],
  desired: NadManifest['metadata']['ownerReferences'][number],
): boolean =>
  actual.uid === desired.uid &&
  actual.apiVersion === desired.apiVersion &&
  actual.kind === desired.kind &&
  actual.name === desired.name &&
  actual.controller === desired.controller &&
  actual.blockOwnerDeletion === desired.blockOwnerDeletion;

/** Labels or annotations on the NAD that its network does not have (any more). */
export const hasExtras = ({ metadata: actual }: NadFacts, { metadata }: NadManifest): boolean =>
  Object.keys(actual.labels).some((key) => !Object.hasOwn(metadata.labels, key)) ||
  Object.keys(actual.annotations).some((key) => !isOurs(key) && !Object.hasOwn(metadata.annotations, key));

const isOurs = (annotation: string): boolean => annotation.startsWith('k8s.ovn.org');

/** What kubectl notes about the network is not about the NAD. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const inheritedAnnotations = (annotations: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => !isOurs(key) && key !== LAST_APPLIED));

const hasAll = (actual: Readonly<Record<string, string>>, desired: Readonly<Record<string, string>>): boolean =>
  Object.entries(desired).every(([key, value]) => actual[key] === value);
