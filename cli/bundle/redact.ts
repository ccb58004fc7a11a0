/** What of objects and texts goes into a bundle. Pure. What is unknown is left out of pods, where secrets are most often. */
import { isRecord } from '../../kube/is-record.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An object without what says nothing about networks, or may be secret. */
export const redactObject = (object: Fields): Fields => {
  const { metadata, ...rest } = object;
  const shown = { metadata: metadataOf(recordOf(metadata)), ...rest };
  return object['kind'] === 'Pod' ? podOf(shown) : shown;
};

/** Tokens, private keys and pre-shared keys, wherever they are in a log or a dump. */
export const redactText = (text: string): string =>
  SECRETS.reduce((shown, [pattern, instead]) => shown.replace(pattern, instead), text);

const LEFT_OUT = '[left out]';

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?-----END \1-----/g, LEFT_OUT],
  // JSON Web Tokens: three parts, of which the first two are JSON.
  [/\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g, LEFT_OUT],
  [/\b(bearer\s+)[\w.~+/=-]{8,}/gi, `$1${LEFT_OUT}`],
  // Of Open vSwitch's own IPsec: options:psk of an Interface.
  [/\b(psk|password|passwd|token|secret)("?\s*[=:]\s*)("[^"]*"|[^\s,;}{"]+)/gi, `$1$2${LEFT_OUT}`],
];

/** Whose annotations are about networks and workloads; others may hold anything. */
const ANNOTATIONS = /^([a-z0-9.-]*\.)?(ovn\.org|cni\.cncf\.io|multus-cni\.io|kubernetes\.io|k8s\.io)\//;
/** A copy of the whole object, with all that is left out of it here. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const metadataOf = ({ managedFields: _, annotations, ...metadata }: Fields): Fields => ({
  ...metadata,
  ...(isRecord(annotations) && {
    annotations: Object.fromEntries(
      Object.entries(annotations).filter(([key]) => ANNOTATIONS.test(key) && key !== LAST_APPLIED),
    ),
  }),
});

const podOf = ({ spec, status, ...pod }: Fields): Fields => {
  const { nodeName, hostNetwork, serviceAccountName, containers, initContainers } = recordOf(spec);
  return {
    ...pod,
    spec: {
      ...{ nodeName, hostNetwork, serviceAccountName },
      ...{ containers: containersOf(containers), initContainers: containersOf(initContainers) },
    },
    status,
  };
};

/** Neither their environment nor their arguments, commands and probes. */
const containersOf = (containers: unknown): readonly Fields[] =>
  (Array.isArray(containers) ? containers : [])
    .filter(isRecord)
    .map(({ name, image, ports }) => ({ name, image, ports }));

const recordOf = (value: unknown): Fields => (isRecord(value) ? value : {});
