/**
 * What is done when ovs-vswitchd comes back: the flows of our bridges are written when their sockets appear, and
 * ovn-controller is made to write those of br-int.
 */
import { SocketWatch } from '../../datapath/openflow/socket-watch.ts';
import type { OvsdbSession } from '../../ovsdb/session/session.ts';
import { reconnectOperations } from '../databases/controller-target.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import { INTEGRATION_BRIDGE } from '../model/host-names.ts';

export interface SwitchReturnOptions {
  readonly session: Pick<OvsdbSession, 'transact'>;
  readonly replica: Pick<VswitchReplica, 'rows'>;
  readonly onReconnect: () => void;
  readonly onError: (error: unknown) => void;
  readonly sockets?: Pick<SocketWatch, 'listen' | 'close'>;
}

export interface SwitchReturn {
  readonly sockets: Pick<SocketWatch, 'listen'>;
  close(): void;
}

export const followSwitch = ({
  session,
  replica,
  onReconnect,
  onError,
  sockets = new SocketWatch(),
}: SwitchReturnOptions): SwitchReturn => {
  const reconnect = async (): Promise<void> => {
    const [row] = replica.rows('Open_vSwitch');
    const operations = row === undefined ? [] : reconnectOperations(row.external_ids);
    if (operations.length === 0) return;
    await session.transact(operations);
    onReconnect();
  };
  sockets.listen((bridge) => {
    // ovn-controller comes by itself, only later.
    if (bridge === INTEGRATION_BRIDGE) reconnect().catch(onError);
  });
  return { sockets, close: () => sockets.close() };
};
