/** Names that a shell may complete, from the API server with the rights of who types, or from the node's agent. */
import { existsSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { cudnNetworkName, udnNetworkName } from '../../api/names.ts';
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  EGRESS_FIREWALLS,
  MULTI_NETWORK_POLICIES,
  USER_DEFINED_NETWORKS,
} from '../../api/resources.ts';
import { loadNames } from '../../kube/config/load.ts';
import { KubeError } from '../../kube/errors.ts';
import { recordOr } from '../../kube/is-record.ts';
import { NAMESPACES, NETWORK_POLICIES, NODES, PODS, SERVICES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectMeta, ResourceType } from '../../kube/types.ts';
import { withClient } from '../cluster/cluster-command.ts';
import { serverOptionsOf } from '../cluster/server-options.ts';
import { CliError } from '../errors.ts';
import { connectAgent, DEFAULT_AGENT_SOCKET } from '../node/agent-client.ts';
import { SUBJECTS } from '../why/subject.ts';
import type { Line, NameKind, Plan, Suggestion } from './plan.ts';

/** Somebody waits at the prompt. */
const PATIENCE_MS = 3_000;
/** Nobody reads more. */
const MAX_NAMES = 500;

/** What cannot be had is not suggested: an error would be in the middle of what somebody types. */
export const completeNames = async (
  { of, typed, line }: Extract<Plan, { kind: 'names' }>,
  env: NodeJS.ProcessEnv,
): Promise<readonly Suggestion[]> => {
  try {
    const found = await namesOf(of, typed, line, env);
    return found
      .filter(({ value }) => value.startsWith(typed))
      .slice(0, MAX_NAMES)
      .map((one) => ({ ...one, value: line.prefix + one.value }));
  } catch (error) {
    if (EXPECTED.some((kind) => error instanceof kind) || isTimeout(error)) return [];
    throw error;
  }
};

/** No server, no agent, or a value that is not complete yet. */
const EXPECTED = [KubeError, CliError, InvalidArgumentError];

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';

const namesOf = async (
  of: NameKind,
  typed: string,
  line: Line,
  env: NodeJS.ProcessEnv,
): Promise<readonly Suggestion[]> => {
  if (of === 'context' || of === 'cluster' || of === 'user') {
    const names = await loadNames(`${of}s`, { kubeconfig: line.values.get('kubeconfig'), env });
    return names.map((value) => ({ value }));
  }
  const socket = line.values.get('agent-socket') ?? DEFAULT_AGENT_SOCKET;
  if (of === 'network' && asksAgent(line) && existsSync(socket)) {
    return (await connectAgent(socket).networks())
      .filter(({ role }) => !isOfPolicy(line) || role === 'secondary')
      .map(({ name, topology, role }) => ({ value: name, description: `${topology}, ${role}` }));
  }
  return await withClient(serverOptionsOf(line.values), async ({ client, namespace }) => {
    const lists = listsOf(client, line.values.get('namespace') ?? namespace, typed, isOfPolicy(line));
    return of === 'subject'
      ? await lists.subject()
      : of === 'name'
        ? await lists.name(line.positional)
        : await lists[of]();
  });
};

/** It has the agent's option, and nothing says that it is about the cluster. */
const asksAgent = ({ command, values }: Line): boolean =>
  command.options.some(({ long }) => long === '--agent-socket') &&
  Object.keys(serverOptionsOf(values)).length === 0 &&
  !['all-namespaces', 'selector', 'node'].some((name) => values.has(name));

/** What destinations of a trace begin with that are Services. */
const SERVICE = 'service/';

/** `udnctl policy` asks about networks beside the pods' own. */
const isOfPolicy = ({ command }: Line): boolean => command.parent?.name() === 'policy';

/** In front of policies of other kinds than the usual one, as `policy show` takes them. */
const MULTI = 'MultiNetworkPolicy/';
const FIREWALL = 'EgressFirewall/';

/** Localnets are, and say nothing of it. */
const isSecondary = ({ spec }: KubeObject): boolean => {
  const own = recordOr(recordOr(spec)['network'] ?? spec);
  return [own['layer2'], own['layer3']].every((one) => recordOr(one)['role'] !== 'Primary');
};

const listsOf = (client: KubeClient, namespace: string, typed: string, onlySecondary: boolean) => {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const items = async (resource: ResourceType, of?: string): Promise<readonly KubeObject[]> =>
    (await client.list(resource, { namespace: of, limit: MAX_NAMES }, signal)).items;
  const list = async (resource: ResourceType, of?: string): Promise<readonly ObjectMeta[]> =>
    (await items(resource, of)).map(({ metadata }) => metadata);
  const networks = async (resource: ResourceType, of?: string): Promise<readonly ObjectMeta[]> =>
    (await items(resource, of)).filter((one) => !onlySecondary || isSecondary(one)).map(({ metadata }) => metadata);
  const names = async (resource: ResourceType): Promise<Suggestion[]> =>
    (await list(resource)).map(({ name }) => ({ value: name }));
  /** Names in the namespace, or NAMESPACE/NAME once a slash has been typed. */
  const inNamespace = async (resource: ResourceType): Promise<Suggestion[]> => {
    const slash = typed.indexOf('/');
    const found = await list(resource, slash < 0 ? namespace : typed.slice(0, slash));
    return found.map(({ name, namespace: own = '' }) => ({ value: slash < 0 ? name : `${own}/${name}` }));
  };
  /** For commands that know no namespace of their own. */
  const withNamespace = async (resource: ResourceType, text: string, prefix = ''): Promise<Suggestion[]> => {
    const slash = text.indexOf('/');
    const found = await list(resource, slash < 0 ? namespace : text.slice(0, slash));
    return found.map(({ name, namespace: own = '' }) => ({ value: `${prefix}${own}/${name}` }));
  };
  const network = async (): Promise<Suggestion[]> => {
    const [udns, cudns] = await Promise.all([
      // Who may not see all namespaces sees one.
      networks(USER_DEFINED_NETWORKS).catch(() => networks(USER_DEFINED_NETWORKS, namespace)),
      networks(CLUSTER_USER_DEFINED_NETWORKS).catch(() => []),
    ]);
    return [
      ...udns.map(({ name, namespace: own = '' }) => ({
        value: udnNetworkName(own, name),
        description: `udn ${own}/${name}`,
      })),
      ...cudns.map(({ name }) => ({ value: cudnNetworkName(name), description: `cudn ${name}` })),
    ];
  };
  const kinds = SUBJECTS.map((value) => ({ value }));
  return {
    namespace: () => names(NAMESPACES),
    node: () => names(NODES),
    pod: () => inNamespace(PODS),
    policy: async () => {
      if (typed.startsWith(MULTI)) return await withNamespace(MULTI_NETWORK_POLICIES, typed.slice(MULTI.length), MULTI);
      if (typed.startsWith(FIREWALL))
        return await withNamespace(EGRESS_FIREWALLS, typed.slice(FIREWALL.length), FIREWALL);
      const kinds = [MULTI, FIREWALL].map((value) => ({ value, description: 'NAMESPACE/NAME of one' }));
      return [...(await withNamespace(NETWORK_POLICIES, typed)), ...kinds];
    },
    network,
    subject: async () => [...kinds, ...(await inNamespace(PODS).catch(() => []))],
    name: async ([kind]: readonly string[]) => {
      if (kind === 'udn') return await inNamespace(USER_DEFINED_NETWORKS);
      if (kind === 'cudn') return await names(CLUSTER_USER_DEFINED_NETWORKS);
      if (kind === 'service') return await withNamespace(SERVICES, typed);
      return kind === 'network' ? await network() : kind === 'pod' ? await inNamespace(PODS) : [];
    },
    destination: async () => {
      if (typed.startsWith(SERVICE)) return await withNamespace(SERVICES, typed.slice(SERVICE.length), SERVICE);
      return [{ value: SERVICE, description: 'a Service' }, ...(await withNamespace(PODS, typed))];
    },
  };
};
