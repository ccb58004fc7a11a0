/**
 * Services of the same name in every tenant: each answers the pods of its tenant's network by its own pods, at its ClusterIPs,
 * nobody else there, and whoever is outside at its node port.
 */
import { parseService, type Service } from '../api/service.ts';
import { recordOr } from '../kube/is-record.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../net/ip.ts';
import type { ManifestObject, Objects, Sandbox } from '../sandbox/index.ts';
import { addressOfFamily, planNetwork } from '../sandbox/plan/netplan.ts';
import { type Attempt, askFrom, type Target } from '../test/oracles/reachability/service-clients.ts';
import type { ReachabilityPod } from '../test/oracles/reachability/types.ts';
import type { Terminal } from './terminal.ts';

export const OUTSIDE = 'outside';

/** One client at one entry point of a Service. */
export interface ServiceAnswers {
  /** `namespace/name` */
  readonly service: string;
  readonly entryPoint: 'ClusterIP' | 'NodePort';
  /** `address:port`: of a node port, those of all nodes. */
  readonly addresses: readonly string[];
  /** `namespace/name` of a pod, or `outside`. */
  readonly from: string;
  /** Names of pods that may answer; none: nobody should. */
  readonly expected: readonly string[];
  readonly attempts: number;
  readonly answered: number;
  /** Names of those who did. */
  readonly answeredBy: readonly string[];
  /** All attempts were answered by those who may, or none was where nobody should. */
  readonly ok: boolean;
}

/** A Service, and what the manifests say of it. */
interface Known {
  readonly service: Service;
  readonly network: string;
  readonly backends: readonly string[];
}

interface Question extends Pick<ServiceAnswers, 'service' | 'entryPoint' | 'addresses' | 'from' | 'expected'> {
  readonly targets: readonly Target[];
}

/** So that mostly each of two pods gets one. */
const OFTEN = 6;

/**
 * @param networks of pods by `namespace/name`, as the manifests have it
 * @param clients who asks: the first of a network is its client
 */
export const measureServices = async (
  sandbox: Pick<Sandbox, 'exec' | 'outside' | 'objects'>,
  {
    manifests,
    networks,
    clients,
    nodes,
  }: {
    readonly manifests: readonly ManifestObject[];
    readonly networks: ReadonlyMap<string, string>;
    readonly clients: readonly ReachabilityPod[];
    readonly nodes: number;
  },
): Promise<ServiceAnswers[]> => {
  const known = await readServices(await sandbox.objects(), manifests, networks);
  const questions = questionsAbout(known, clients, nodeAddresses(nodes));
  const [fromOutside = [], fromPods = []] = [true, false].map((isOutside) =>
    questions.filter(({ from }) => (from === OUTSIDE) === isOutside),
  );
  return [...(await askTwice(sandbox, fromPods)), ...(await askTwice(sandbox, fromOutside))];
};

/** Many connections at once may keep the userspace datapath busy for longer than they are waited for: what was lost is asked again. */
const askTwice = async (
  sandbox: Pick<Sandbox, 'exec' | 'outside'>,
  questions: readonly Question[],
): Promise<ServiceAnswers[]> => {
  const first = await askAll(sandbox, questions);
  const again = await askAll(
    sandbox,
    questions.filter((one) => isLost(first.get(one))),
  );
  return questions.flatMap((one) => again.get(one) ?? first.get(one) ?? []);
};

const isLost = (one: ServiceAnswers | undefined): boolean =>
  one !== undefined &&
  one.expected.length > 0 &&
  one.answered < one.attempts &&
  one.answeredBy.every((name) => one.expected.includes(name));

const askAll = async (
  sandbox: Pick<Sandbox, 'exec' | 'outside'>,
  questions: readonly Question[],
): Promise<Map<Question, ServiceAnswers>> => {
  const byClient = [...Map.groupBy(questions, ({ from }) => from)];
  return new Map((await Promise.all(byClient.map(([from, asked]) => askFromClient(sandbox, from, asked)))).flat());
};

const askFromClient = async (
  sandbox: Pick<Sandbox, 'exec' | 'outside'>,
  from: string,
  questions: readonly Question[],
): Promise<[Question, ServiceAnswers][]> => {
  const targets = questions.flatMap((one) => one.targets);
  const attempts = await askFrom(
    (argv, options) => (from === OUTSIDE ? sandbox.outside(argv, options) : sandbox.exec(from, argv, options)),
    targets,
  );
  let next = 0;
  return questions.map((one) => {
    const own = attempts.slice(next, next + one.targets.length);
    next += one.targets.length;
    return [one, evaluate(one, own)];
  });
};

/** @returns what the API server made of the manifests' Services that have pods in them */
const readServices = async (
  objects: Pick<Objects, 'get'>,
  manifests: readonly ManifestObject[],
  networks: ReadonlyMap<string, string>,
): Promise<Known[]> => {
  const found = manifests
    .filter(({ kind }) => kind === 'Service')
    .map(async (manifest): Promise<Known | undefined> => {
      const pods = backendsOf(manifest, manifests);
      const network = networks.get(pods[0] ?? '');
      if (network === undefined) return undefined;
      const key = `${namespaceOf(manifest)}/${manifest.metadata.name}`;
      const backends = pods.map((pod) => pod.slice(pod.indexOf('/') + 1));
      return { service: parseService(await objects.get('Service', key)), network, backends };
    });
  return (await Promise.all(found)).filter((one) => one !== undefined);
};

/** `namespace/name` of the pods that a Service selects. */
export const backendsOf = (service: ManifestObject, manifests: readonly ManifestObject[]): string[] => {
  const selected = Object.entries(recordOr(recordOr(service['spec'])['selector']));
  if (selected.length === 0) return [];
  return manifests
    .filter((one) => one.kind === 'Pod' && namespaceOf(one) === namespaceOf(service))
    .filter(({ metadata }) => selected.every(([label, value]) => recordOr(metadata['labels'])[label] === value))
    .map((one) => `${namespaceOf(one)}/${one.metadata.name}`);
};

const namespaceOf = ({ metadata: { namespace = 'default' } }: ManifestObject): string => namespace;

const nodeAddresses = (count: number): Readonly<Record<Family, readonly Ip[]>> => {
  const { nodes } = planNetwork('dual', count);
  const ofFamily = (family: Family): Ip[] =>
    nodes.map(({ addresses }) => addressOfFamily(addresses, family)).filter((ip) => ip !== undefined);
  return { 4: ofFamily(4), 6: ofFamily(6) };
};

/** Pure. Every client asks at all ClusterIPs, and a host outside at the node ports. */
export const questionsAbout = (
  known: readonly Known[],
  clients: readonly ReachabilityPod[],
  nodes: Readonly<Record<Family, readonly Ip[]>>,
): Question[] =>
  known.flatMap(({ service, network, backends }) =>
    FAMILIES.flatMap((family) => {
      const name = `${service.metadata.namespace}/${service.metadata.name}`;
      const [port] = service.ports.filter(({ protocol }) => protocol === 'TCP');
      const clusterIps = service.clusterIps.filter((ip) => ipFamily(ip) === family);
      if (port === undefined || clusterIps.length === 0) return [];
      const inside = clients.map((client) => {
        const expected = client.attachments[0]?.network === network ? backends : [];
        return question({ service: name, entryPoint: 'ClusterIP', from: client.key, expected }, clusterIps, port.port);
      });
      if (port.nodePort === undefined) return inside;
      const outside = { service: name, entryPoint: 'NodePort', from: OUTSIDE, expected: backends } as const;
      return [...inside, question(outside, nodes[family], port.nodePort)];
    }),
  );

const question = (
  about: Pick<Question, 'service' | 'entryPoint' | 'from' | 'expected'>,
  ips: readonly Ip[],
  port: number,
): Question => ({
  ...about,
  addresses: ips.map((ip) => (ipFamily(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`)),
  targets: ips.flatMap((ip) =>
    Array.from({ length: about.expected.length === 0 ? 1 : OFTEN }, (): Target => ({ ip, port, protocol: 'TCP' })),
  ),
});

/** Pure. */
export const evaluate = ({ targets, ...about }: Question, attempts: readonly Attempt[]): ServiceAnswers => {
  const names = attempts.filter(({ outcome }) => outcome === 'answered').map(({ text }) => text);
  const isRight = names.length === (about.expected.length === 0 ? 0 : targets.length);
  return {
    ...about,
    attempts: targets.length,
    answered: names.length,
    answeredBy: [...new Set(names)].sort(),
    ok: isRight && names.every((name) => about.expected.includes(name)),
  };
};

export const areServicesRight = (results: readonly ServiceAnswers[]): boolean => results.every(({ ok }) => ok);

/** A line for each entry point: who was answered there by whom, and then how many got no reply. */
export const renderServices = (results: readonly ServiceAnswers[], { paint }: Pick<Terminal, 'paint'>): string => {
  const entryPoints = [
    ...Map.groupBy(results, ({ service, addresses }) => `${service} ${addresses.join(' ')}`).values(),
  ];
  const rows = entryPoints.map((asked) => {
    const [{ service = '', addresses = [] } = {}] = asked;
    const answered = asked.filter((one) => one.expected.length > 0 || !one.ok);
    return { service, address: addresses.join(' '), clients: answered, silent: asked.length - answered.length, asked };
  });
  const width = (lengths: readonly number[]): number => Math.max(0, ...lengths);
  const [service, address] = [
    width(rows.map((row) => row.service.length)),
    width(rows.map((row) => row.address.length)),
  ];
  const client = width(results.map(({ from }) => from.length));
  return rows
    .flatMap((row) => {
      const isRight = row.asked.every(({ ok }) => ok);
      const head = `${isRight ? '✓' : '✗'}  ${row.service.padEnd(service)}  ${row.address.padEnd(address)}`;
      const others = row.silent === 0 ? '' : `; no reply in ${row.silent} other networks`;
      return row.clients.map((one, index) => {
        const who = `${one.from.padEnd(client)}  ${replies(one)}${index === 0 ? others : ''}`;
        return paint(isRight ? 'good' : 'bad', `${head}  ←  ${who}`);
      });
    })
    .join('\n');
};

const replies = ({ answeredBy, attempts, answered, expected }: ServiceAnswers): string => {
  if (answered === 0) return 'no reply';
  const names = `answered by ${answeredBy.join(' ')}`;
  return expected.length === 0 || answered === attempts
    ? names
    : `${names}, no reply to ${attempts - answered} of ${attempts}`;
};
