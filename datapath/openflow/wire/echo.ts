/** Asks ovs-vswitchd for a sign of life: OpenFlow 1.3, 7.5.2. Its main thread answers, which also writes flows and makes ports. */
import { VERSION } from '../ports/message.ts';
import { type BridgeSocket, withConnection } from './connection.ts';
import { encode, MESSAGE } from './message.ts';

/** @throws OpenflowError ERR_OPENFLOW_UNREACHABLE; the signal's reason */
export const echo = (socket: BridgeSocket, signal: AbortSignal): Promise<void> =>
  withConnection(socket, VERSION, signal, async (connection) => {
    connection.write(encode(VERSION, MESSAGE.echoRequest, 1));
    await connection.next();
  });
