/** Watches the ways to other nodes, where they are encrypted. */
import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import { openXfrm } from '../../datapath/xfrm/xfrm.ts';
import { LOCAL } from '../model/facts.ts';
import type { TunnelEncryption } from '../model/view.ts';
import type { Core } from '../wiring/core.ts';
import type { Edges } from '../wiring/edges.ts';
import { knock } from './knock.ts';
import { type PeerWatch, watchPeers } from './peers.ts';

interface StartOptions {
  readonly edges: Pick<Edges, 'metrics'>;
  readonly core: Pick<Core, 'facts'>;
  readonly node: string;
  readonly encryption: TunnelEncryption | undefined;
  readonly spawnAddon: string;
  readonly log: Logger;
}

/** @param resources ends it with the agent */
export const startPeerWatch = (
  { edges: { metrics }, core: { facts }, node, encryption, spawnAddon, log }: StartOptions,
  resources: AsyncDisposableStack,
): Pick<PeerWatch, 'problems'> => {
  if (encryption === undefined) {
    metrics.gauge('udn_agent_unprotected_peers', () => 0);
    return { problems: () => [] };
  }
  const watch = watchPeers({
    node,
    xfrm: openXfrm(spawnAddon),
    ends: () => ({
      local: facts.get('encapIps', LOCAL) ?? [],
      peers: [...facts.ids('node')]
        .filter((name) => name !== node)
        .flatMap((name) => (facts.get('node', name)?.encapIps ?? []).map((ip) => ({ node: name, ip }))),
    }),
    knock,
    clock: systemClock,
    onError: (error) => log.warn({ err: error }, 'the encryption state of tunnels is unknown'),
  });
  resources.defer(() => watch.stop());
  metrics.gauge('udn_agent_unprotected_peers', () => watch.problems().length);
  return watch;
};
