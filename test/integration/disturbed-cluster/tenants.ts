/** Tenants who come and go, and what has to be true of them. */
import { expect } from 'vitest';
import { violationsOf } from '../../../cli/invariants/invariants.ts';
import type { TestCluster } from '../../../cluster-manager/testing/harness.ts';
import { layer2Udn, layer3Udn, node, pod, tenant } from '../../../cluster-manager/testing/objects.ts';
import { isAlreadyExists, isNotFound } from '../../../kube/errors.ts';
import type { KubeObject, ObjectInput } from '../../../kube/types.ts';

const TENANTS = 12;
const names = Array.from({ length: TENANTS }, (_, n) => `t${n}`);
const KINDS = ['Namespace', 'Node', 'Pod', 'UserDefinedNetwork', 'NetworkAttachmentDefinition', 'IPAMClaim'];

export const makeTenants = async (cluster: TestCluster): Promise<void> => {
  await cluster.create(...names.map((name) => tenant(name) as ObjectInput), node('n0') as ObjectInput);
};

const isLayer2 = (tenantNumber: number): boolean => tenantNumber % 2 === 0;

const networkOf = (n: number): ObjectInput =>
  (isLayer2(n)
    ? layer2Udn(`t${n}/net`, ['10.20.0.0/24', 'fd00:20::/64'])
    : layer3Udn(`t${n}/net`, ['10.20.0.0/16', 'fd00:20::/48'])) as ObjectInput;

/** What is there already, or gone already, is as good. */
const attempt = async (request: Promise<void>): Promise<void> => {
  try {
    await request;
  } catch (error) {
    if (!isNotFound(error) && !isAlreadyExists(error)) throw error;
  }
};

/** One thing that happens; the same for the same number. */
export const trouble = async (cluster: TestCluster, n: number): Promise<void> => {
  // Knuth's multiplicative hash: neighbours have nothing in common.
  const mixed = Math.imul(n, 2_654_435_761) >>> 0;
  const tenantNumber = (mixed >>> 6) % TENANTS;
  const podKey = `t${tenantNumber}/p${(mixed >>> 12) % 6}`;
  const nodeName = `n${(mixed >>> 18) % 5}`;
  switch ((mixed >>> 24) % 9) {
    case 0:
    case 1:
      return attempt(cluster.create(networkOf(tenantNumber)));
    case 2:
      return attempt(cluster.create(node(nodeName) as ObjectInput));
    case 3:
      return n % 4 === 0 ? attempt(cluster.delete('Node', nodeName)) : undefined;
    case 4:
      return n % 2 === 0 ? attempt(cluster.delete('UserDefinedNetwork', `t${tenantNumber}/net`)) : undefined;
    case 5:
      return attempt(cluster.delete('Pod', podKey));
    default:
      return attempt(cluster.create(pod(podKey, { uid: undefined }) as ObjectInput));
  }
};

const everything = async (cluster: TestCluster): Promise<KubeObject[]> => {
  const lists = await Promise.all(
    KINDS.map(async (kind) => (await cluster.list(kind)).map((object) => ({ ...object, kind }))),
  );
  return lists.flat();
};

export const violations = async (cluster: TestCluster): Promise<readonly unknown[]> =>
  violationsOf(await everything(cluster));

const annotation = ({ metadata: { annotations = {} } }: KubeObject, name: string): string | undefined =>
  annotations[`k8s.ovn.org/${name}`];

/** What each object was given, by uid: as long as it is there, it stays. */
export const createHistory = (cluster: TestCluster) => {
  const seen = new Map<string, string>();
  const note = (object: KubeObject, name: string, value: string | undefined): void => {
    const key = `${object.metadata.namespace}/${object.metadata.name} ${object.metadata.uid} ${name}`;
    if (seen.has(key)) expect(`${key}: ${value}`).toBe(`${key}: ${seen.get(key)}`);
    if (value !== undefined) seen.set(key, value);
  };
  return {
    look: async (): Promise<void> => {
      for (const one of await cluster.list('Pod')) note(one, 'addresses', annotation(one, 'pod-networks'));
      for (const one of await cluster.list('NetworkAttachmentDefinition'))
        note(one, 'id', annotation(one, 'network-id'));
      for (const one of await cluster.list('Node')) {
        note(one, 'id', annotation(one, 'node-id'));
        const subnets = annotation(one, 'node-subnets');
        note(one, 'subnet', subnets === undefined ? undefined : JSON.stringify(JSON.parse(subnets).default));
      }
    },
  };
};

/** Who lacks something: nothing waits for anything that is not there. */
export const everyoneHasAll = async (cluster: TestCluster): Promise<readonly string[]> => {
  const objects = await everything(cluster);
  const networks = objects.filter(({ kind }) => kind === 'UserDefinedNetwork');
  const isWithNetwork = (namespace: string | undefined): boolean =>
    networks.some(({ metadata }) => metadata.namespace === namespace && metadata.deletionTimestamp === undefined);
  const lacks = objects.filter((one) => {
    const { namespace, name, deletionTimestamp } = one.metadata;
    if (deletionTimestamp !== undefined) return true;
    if (one.kind === 'Node') return annotation(one, 'node-id') === undefined;
    if (one.kind === 'UserDefinedNetwork') return !isAllocated(one);
    if (one.kind !== 'Pod') return false;
    const isServed = isLayer2(Number(namespace?.slice(1))) && isWithNetwork(namespace);
    return (
      isServed && JSON.parse(annotation(one, 'pod-networks') ?? '{}')[`${namespace}/net`] === undefined && name !== ''
    );
  });
  const inUse = new Set(objects.filter(({ kind }) => kind === 'Pod').map(({ metadata }) => metadata.namespace));
  // A network that is deleted waits for its pods.
  const waits = (one: KubeObject): boolean =>
    one.metadata.deletionTimestamp !== undefined && inUse.has(one.metadata.namespace);
  return lacks
    .filter((one) => !waits(one))
    .map(({ kind, metadata }) => `${kind}/${metadata.namespace}/${metadata.name}`);
};

const isAllocated = ({ status }: KubeObject): boolean => {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some((one) => one.type === 'NetworkAllocationSucceeded' && one.status === 'True');
};
