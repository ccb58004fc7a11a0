/**
 * The backend of the host's network stack, as a process on a node. For every line on stdin it puts all of its routes and
 * rules there, prints the milliseconds that took, and takes them away again.
 *
 *   host-agent.mjs NETWORKS
 */
import { createInterface } from 'node:readline';
import { HostBackend } from '../../datapath/host/backend.ts';
import { type HostItem, hostItemKey } from '../../datapath/host/types.ts';
import { startNetlink } from '../../datapath/netlink/worker/client.ts';
import { ADDON } from './agent.ts';
import { ROUTE_TABLE, RULE_PRIORITY, routingItems } from './routing-items.ts';

const main = async ([networks = '0']: readonly string[]): Promise<void> => {
  const items = routingItems(Number(networks));
  await using netlink = startNetlink({ addonPath: ADDON });
  const backend = new HostBackend({
    netlink,
    ownership: {
      vrfTables: { first: 0, last: 0 },
      otherTables: [ROUTE_TABLE],
      rulePriorities: [RULE_PRIORITY],
    },
  });
  const desired = new Map<string, HostItem>(items.map((item) => [hostItemKey(item), item]));
  const keys = new Set(desired.keys());
  const { signal } = new AbortController();
  await backend.reconcile({ desired: new Map(), keys: 'all', prune: true }, signal);
  for await (const _ of createInterface(process.stdin)) {
    // The events of what ip(8) has added and removed are still coming.
    await backend.reconcile({ desired: new Map(), keys: 'all', prune: true }, signal);
    const start = performance.now();
    const { written, failed } = await backend.reconcile({ desired, keys, prune: true }, signal);
    const milliseconds = performance.now() - start;
    if (written !== items.length)
      throw new Error(`${written} of ${items.length} were written: ${[...failed.values()][0]}`);
    await backend.reconcile({ desired: new Map(), keys, prune: true }, signal);
    process.stdout.write(`${milliseconds}\n`);
  }
  await backend.close();
};

await main(process.argv.slice(2));
