/**
 * What is done when ovs-vswitchd comes back: the flows of our bridges are written when their sockets appear, and
 * ovn-controller is made to write those of br-int.
 */
import { SocketWatch } from '../../datapath/openflow/socket-watch.ts';
import { NotConnectedError } from '../../ovsdb/errors.ts';
import type { OvsdbSession } from '../../ovsdb/session/session.ts';
import { reconnectOperations } from '../databases/controller-target.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import { INTEGRATION_BRIDGE } from '../model/host-names.ts';

export interface SwitchReturnOptions {
  readonly session: Pick<OvsdbSession, 'transact'>;
  readonly replica: Pick<VswitchReplica, 'rows' | 'whenSynced'>;
  readonly onReconnect: () => void;
  readonly onError: (error: unknown) => void;
  readonly sockets?: Pick<SocketWatch, 'listen' | 'close'>;
}

export interface SwitchReturn {
  readonly sockets: Pick<SocketWatch, 'listen'>;
  close(): void;
}

/** Later ovn-controller has connected by itself: it waits for eight seconds at most. */
const USEFUL_MS = 8_000;

export const followSwitch = ({
  session,
  replica,
  onReconnect,
  onError,
  sockets = new SocketWatch(),
}: SwitchReturnOptions): SwitchReturn => {
  const reconnect = async (signal: AbortSignal): Promise<void> => {
    // The database may have ended with ovs-vswitchd.
    await replica.whenSynced(signal);
    const [row] = replica.rows('Open_vSwitch');
    const operations = row === undefined ? [] : reconnectOperations(row.external_ids);
    if (operations.length === 0) return;
    try {
      await session.transact(operations, signal);
    } catch (error) {
      if (!(error instanceof NotConnectedError)) throw error;
      return await reconnect(signal);
    }
    onReconnect();
  };
  sockets.listen((bridge) => {
    if (bridge === INTEGRATION_BRIDGE) reconnect(AbortSignal.timeout(USEFUL_MS)).catch(onError);
  });
  return { sockets, close: () => sockets.close() };
};
