/** What the cluster manager keeps of a NetworkAttachmentDefinition. */
import { adoptedConf } from '../../api/adopted-conf.ts';
import { ApiError } from '../../api/errors.ts';
import { NAD_ANNOTATIONS } from '../../api/names.ts';
import { type NetConf, parseNetConf, saysPrimary } from '../../api/net-conf.ts';
import {
  type NetworkAttachmentDefinition,
  type NetworkKeys,
  nadAnnotatedNetwork,
  nadNetworkKeys,
  parseNetworkAttachmentDefinition,
} from '../../api/network-attachment-definition.ts';
import type { ObjectMeta } from '../../api/object.ts';

export interface NadFacts {
  readonly key: string;
  readonly metadata: ObjectMeta & { readonly namespace: string };
  readonly config: string | undefined;
  /** Undefined when it is not ours, or wrong. */
  readonly conf: NetConf | undefined;
  /** Why it is wrong. */
  readonly confError: ApiError | undefined;
  /** What counts of a NAD that was written by hand, whatever it says now (`withAdopted`). */
  readonly adopted?: NetConf | undefined;
  /** By its type and role alone: true also where `confError` is about something else. */
  readonly isPrimary: boolean;
  /** The network that `keys` were given to. */
  readonly annotatedNetwork: string | undefined;
  readonly keys: NetworkKeys | undefined;
  /** Then `keys` are what can be read of them. */
  readonly keysError: ApiError | undefined;
}

/** @param before of the NAD as it was a moment ago: a configuration that has not changed is not read again */
export const nadFacts = (object: unknown, before?: NadFacts): NadFacts => {
  const nad = parseNetworkAttachmentDefinition(object);
  const isKnown = before?.conf !== undefined && before.config === nad.spec.config;
  const conf = isKnown
    ? { value: before.conf, error: undefined }
    : attempt(() => parseNetConf(nad.spec.config, nad.metadata));
  const keys = attempt(() => nadNetworkKeys(nad));
  // The id is its network's, also where the keys beside it are nonsense.
  const idAlone = keys.error === undefined ? undefined : attempt(() => nadNetworkKeys(withoutTunnelKeys(nad))).value;
  return {
    key: `${nad.metadata.namespace}/${nad.metadata.name}`,
    metadata: lean(nad.metadata),
    config: nad.spec.config,
    conf: conf.value,
    confError: conf.error,
    adopted: adoptedConf(nad),
    isPrimary: (conf.value?.role ?? roleOfWrong(nad, conf.error)) === 'primary',
    annotatedNetwork: nadAnnotatedNetwork(nad),
    keys: keys.value ?? idAlone,
    keysError: keys.error,
  };
};

const roleOfWrong = ({ spec, metadata }: NetworkAttachmentDefinition, error: ApiError | undefined) =>
  error !== undefined && error.code !== 'ERR_API_SYNTAX' && saysPrimary(spec.config, metadata) ? 'primary' : undefined;

const withoutTunnelKeys = (nad: NetworkAttachmentDefinition): NetworkAttachmentDefinition => {
  const { [NAD_ANNOTATIONS.tunnelKeys]: _nonsense, ...annotations } = nad.metadata.annotations;
  return { ...nad, metadata: { ...nad.metadata, annotations } };
};

/** The uid of the object that controls the NAD: the network that it was rendered from. */
export const controllerUid = ({ metadata }: Pick<NadFacts, 'metadata'>): string | undefined =>
  metadata.ownerReferences.find(({ controller }) => controller === true)?.uid;

/** Without what changes with every write, so that only real changes are changes. */
const lean = ({ resourceVersion: _version, generation: _generation, ...rest }: NadFacts['metadata']) => rest;

const attempt = <Value>(read: () => Value): { value: Value | undefined; error: ApiError | undefined } => {
  try {
    return { value: read(), error: undefined };
  } catch (error) {
    if (error instanceof ApiError) return { value: undefined, error };
    throw error;
  }
};
