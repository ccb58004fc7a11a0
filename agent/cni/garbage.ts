/** Finds and removes what sandboxes left behind that nobody has any more. */
import type { PodInterfaces } from '../../datapath/netlink/pod-interface/types.ts';
import type { OvsPorts } from './ovs-ports.ts';
import { hostNames, parseAlias } from './plumbing.ts';

export interface GarbageOptions {
  readonly interfaces: Pick<PodInterfaces, 'list' | 'remove'>;
  readonly ports: Pick<OvsPorts, 'all' | 'unplug'>;
  /** Sandboxes whose ports and links stay. */
  readonly kept: readonly string[];
}

/**
 * For GC, where the runtime says what there is. Ports of OVS first: it would complain about links that vanish under it.
 * @returns the names of the interfaces that are gone
 */
export const collectGarbage = async (
  { interfaces, ports, kept }: GarbageOptions,
  signal: AbortSignal,
): Promise<string[]> => {
  const isKept = keeper(kept);
  const stalePorts = ports.all().filter(({ sandbox }) => !isKept.sandbox(sandbox));
  if (stalePorts.length > 0)
    await ports.unplug(
      stalePorts.map(({ name }) => name),
      signal,
    );
  const links = await interfaces.list(undefined, signal);
  const staleLinks = links.filter(({ alias, hostName }) => {
    const sandbox = parseAlias(alias)?.containerId;
    // Whoever made a link without an alias died before it could set it: then the name has to identify it.
    return sandbox === undefined ? !isKept.hostName(hostName) : !isKept.sandbox(sandbox);
  });
  if (staleLinks.length > 0) await interfaces.remove(staleLinks, signal);
  return [...new Set([...stalePorts.map(({ name }) => name), ...staleLinks.map(({ hostName }) => hostName)])];
};

const keeper = (kept: readonly string[]) => {
  const sandboxes = new Set(kept);
  const names = new Set(kept.flatMap(hostNames));
  return {
    sandbox: (sandbox: string): boolean => sandboxes.has(sandbox),
    hostName: (name: string): boolean => names.has(name),
  };
};

export interface OrphanOptions extends Omit<GarbageOptions, 'kept'> {
  /** UIDs of the pods of this node according to the API. */
  readonly pods: ReadonlySet<string>;
  /** Sandboxes with calls under way. */
  readonly busy: readonly string[];
}

/**
 * For the start, where nobody says what there is: takes away what belongs to pods that the API does not have any more.
 * A link without a port may still be a living pod's, whose port has been lost: it stays.
 */
export const removeOrphans = async (
  { interfaces, ports, pods, busy }: OrphanOptions,
  signal: AbortSignal,
): Promise<string[]> => {
  const isBusy = keeper(busy);
  const orphanPorts = ports.all().filter(({ podUid, sandbox }) => !pods.has(podUid) && !isBusy.sandbox(sandbox));
  const links = await interfaces.list(undefined, signal);
  const orphanLinks = links.filter(({ alias, hostName }) => {
    const owner = parseAlias(alias);
    return owner !== undefined && !pods.has(owner.podUid) && !isBusy.hostName(hostName);
  });
  const names = new Set([...orphanPorts.map(({ name }) => name), ...orphanLinks.map(({ hostName }) => hostName)]);
  if (orphanPorts.length > 0) await ports.unplug([...names], signal);
  if (names.size > 0)
    await interfaces.remove(
      [...names].map((hostName) => ({ hostName })),
      signal,
    );
  return [...names];
};
