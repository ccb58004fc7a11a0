/** What tests of the controllers look at. */
import type { TestCluster } from './harness.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export const observe = (cluster: () => TestCluster) => {
  const annotation = async (kind: string, key: string, name: string): Promise<string | undefined> =>
    (await cluster().get(kind, key))?.metadata.annotations?.[`k8s.ovn.org/${name}`];
  const condition = async (kind: string, key: string, type = 'NetworkCreated'): Promise<Condition | undefined> => {
    const object = await cluster().get(kind, key);
    const status = object?.['status'] as { conditions?: Condition[] };
    return status?.conditions?.find((one) => one.type === type);
  };
  /** Of the pod's `pod-networks`. */
  const entryOf = async (key: string, nadKey: string) =>
    JSON.parse((await annotation('Pod', key, 'pod-networks')) ?? '{}')[nadKey];
  const addressOf = async (key: string, nadKey: string): Promise<string | undefined> =>
    (await entryOf(key, nadKey))?.ip_addresses?.[0];
  const eventsAbout = (name: string): string[] =>
    cluster()
      .events.filter(({ regarding }) => regarding.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  const statusOf = async (claim: string) =>
    (await cluster().get('IPAMClaim', claim))?.['status'] as
      | { readonly ips: readonly string[]; readonly ownerPod?: { readonly name: string } }
      | undefined;
  /** What its condition says: `True SuccessfulAllocation: …`. */
  const readyOf = async (claim: string): Promise<string | undefined> => {
    const found = await condition('IPAMClaim', claim, 'IPsAllocated');
    return found === undefined ? undefined : `${found.status} ${found.reason}: ${found.message}`;
  };
  return { annotation, condition, entryOf, addressOf, eventsAbout, statusOf, readyOf };
};
