/**
 * Gateway routers have the same neighbours outside. Every answer of a neighbour and everything that it announces reaches that
 * of the default network (docs/datapath.md); what it has learned is true for all: the gateway bridge answers their questions
 * with it, and what they believe is corrected. Where it knows nothing, they find out for themselves.
 */
import { DEFAULT_NETWORK_NAME } from '../../../api/names.ts';
import { NetError } from '../../../net/errors.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import type { ReplicaUpdate } from '../../../ovsdb/replica/replica.ts';
import type { OvsdbSession } from '../../../ovsdb/session/session.ts';
import type { UpdateOperation } from '../../../ovsdb/transact/operation.ts';
import { BY_ADDRESS, BY_PORT, type NeighbourReplica } from '../../databases/neighbours.ts';
import type { FactStore } from '../../model/fact-store.ts';
import { LOCAL, type NeighbourFact } from '../../model/facts.ts';
import { gatewayRouterName, routerToExternalPortName } from '../../model/names.ts';

export interface FollowNeighboursOptions {
  readonly node: string;
  readonly facts: FactStore;
  readonly replica: NeighbourReplica;
  readonly session: Pick<OvsdbSession, 'transact'>;
  /** So many gateway routers knew another MAC of the address. */
  readonly onCorrected: (change: { readonly ip: string; readonly mac: string; readonly routers: number }) => void;
  readonly onError: (error: unknown) => void;
}

/** @returns what ends it */
export const followNeighbours = (options: FollowNeighboursOptions): (() => void) => {
  const { node, facts, replica } = options;
  const stop = new AbortController();
  const ownPort = routerToExternalPortName(gatewayRouterName(DEFAULT_NETWORK_NAME, node));
  const update = (): void => facts.set('neighbours', LOCAL, neighboursOf(replica, ownPort));
  const look = ({ changes }: Pick<ReplicaUpdate, 'changes'>): void => {
    const ports = new Set(changes.flatMap(({ before, after }) => [before?.['logical_port'], after?.['logical_port']]));
    if (ports.has(ownPort)) update();
    const addresses = new Set(changes.flatMap(({ after }) => (after === undefined ? [] : [String(after['ip'])])));
    correct([...addresses]);
  };
  const correct = (addresses: readonly string[]): void => {
    for (const address of addresses) void correctOthers(options, ownPort, address, stop.signal);
  };
  /** Neighbours may have moved while the database was away, or nobody has looked. */
  const correctAll = (): void => {
    if (replica.synced) correct(neighboursOf(replica, ownPort).map(({ ip }) => ip));
  };
  update();
  correctAll();
  const unlisten = [replica.onUpdate(look), replica.onSynced(correctAll)];
  return () => {
    stop.abort();
    for (const end of unlisten) end();
  };
};

const neighboursOf = (replica: NeighbourReplica, port: string): NeighbourFact[] =>
  replica
    .find('MAC_Binding', BY_PORT, port)
    .flatMap(({ ip, mac }) => neighbour(ip, mac))
    .sort((a, b) => (a.ip < b.ip ? -1 : 1));

/** None of a row that is not one of ovn-controller. */
const neighbour = (ip: string, mac: string): [] | [NeighbourFact] => {
  try {
    return [{ ip: parseIp(ip), mac: parseMac(mac) }];
  } catch (error) {
    if (error instanceof NetError) return [];
    throw error;
  }
};

/** Nothing is read in between: a row that has changed since is left as it is, and reported again. */
const correctOthers = async (
  { replica, session, onCorrected, onError }: FollowNeighboursOptions,
  ownPort: string,
  address: string,
  signal: AbortSignal,
): Promise<void> => {
  const rows = replica.find('MAC_Binding', BY_ADDRESS, address);
  const known = rows.find(({ logical_port: port }) => port === ownPort);
  if (known === undefined) return;
  const wrong = rows.filter(({ logical_port: port, mac }) => port.startsWith(GATEWAY_PORT) && mac !== known.mac);
  if (wrong.length === 0) return;
  const corrections = wrong.map(
    ({ _uuid, mac }): UpdateOperation => ({
      op: 'update',
      table: 'MAC_Binding',
      where: [
        ['_uuid', '==', ['uuid', _uuid]],
        ['mac', '==', mac],
      ],
      row: { mac: known.mac },
    }),
  );
  try {
    await session.transact(corrections, signal);
    onCorrected({ ip: address, mac: known.mac, routers: wrong.length });
  } catch (error) {
    if (!signal.aborted) onError(error);
  }
};

/** Of gateway routers to the outside: elsewhere the same address is somebody else. */
const GATEWAY_PORT = routerToExternalPortName('GR_');
