/** The world of a step of a case, on any network. */
import { CASE_NAMESPACES, CASE_PODS, CASE_PORTS, type CaseStep, type Place } from './case.ts';
import { type Labels, POLICY_PROTOCOLS, type PolicyPod, type World } from './types.ts';

export interface CaseWorldOptions {
  readonly place: Place;
  readonly network: string;
  /** @param pod `x/a` */
  readonly addresses: (pod: string) => readonly string[];
}

export const CASE_POD_KEYS: readonly string[] = CASE_NAMESPACES.flatMap((namespace) =>
  CASE_PODS.map((pod) => `${namespace}/${pod}`),
);

/** Names of container ports as Kubernetes' cases have them. */
export const CASE_CONTAINER_PORTS = POLICY_PROTOCOLS.flatMap((protocol) =>
  CASE_PORTS.map((port) => ({ name: `serve-${port}-${protocol.toLowerCase()}`, protocol, port })),
);

/** The labels of a namespace but for those that Kubernetes gives it. */
export const namespaceLabels = (name: string, { namespaceLabels: more = {} }: Partial<CaseStep> = {}): Labels => ({
  ns: name,
  ...more[name],
});

export const podLabels = (key: string, { podLabels: more = {} }: Partial<CaseStep> = {}): Labels => ({
  pod: key.split('/')[1] ?? '',
  ...more[key],
});

/** Its pods are in the order of `CASE_POD_KEYS`. */
export const caseWorld = (step: CaseStep, { place, network, addresses }: CaseWorldOptions): World => ({
  namespaces: new Map(
    CASE_NAMESPACES.map((name) => {
      const actual = place.namespace(name);
      return [actual, { 'kubernetes.io/metadata.name': actual, ...namespaceLabels(name, step) }];
    }),
  ),
  pods: CASE_POD_KEYS.map((key): PolicyPod => {
    const [namespace = 'x', name = ''] = key.split('/');
    return {
      namespace: place.namespace(namespace as 'x'),
      name,
      labels: podLabels(key, step),
      network,
      addresses: addresses(key),
      ports: CASE_CONTAINER_PORTS,
    };
  }),
  policies: step.policies,
});
