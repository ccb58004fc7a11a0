/** Asks a bridge for its ports and changes them over its socket, all of them in one exchange. */
import type { NoFloodResult } from '../switch-client.ts';
import { type BridgeSocket, type Connection, withConnection } from '../wire/connection.ts';
import { decodeError, type ErrorMessage, encode, MESSAGE, type Message } from '../wire/message.ts';
import {
  decodePorts,
  encodeNoFlood,
  encodePortsRequest,
  PORT_MESSAGE,
  PORT_MOD_FAILED,
  type PortConfig,
  VERSION,
} from './message.ts';

/** @throws OpenflowError ERR_OPENFLOW_UNREACHABLE */
export const readPorts = (socket: BridgeSocket, signal: AbortSignal): Promise<PortConfig[]> =>
  withConnection(socket, VERSION, signal, portsOf);

/** @throws OpenflowError ERR_OPENFLOW_UNREACHABLE */
export const changeNoFlood = (
  socket: BridgeSocket,
  changes: ReadonlyMap<number, boolean>,
  signal: AbortSignal,
): Promise<NoFloodResult> =>
  withConnection(socket, VERSION, signal, async (connection) => {
    const there = new Map((await portsOf(connection)).map((port) => [port.number, port]));
    const present: (readonly [PortConfig, boolean])[] = [];
    const gone = new Set<number>();
    for (const [number, on] of changes) {
      const port = there.get(number);
      if (port === undefined) gone.add(number);
      else present.push([port, on]);
    }
    const refused = new Map<number, string>();
    for (const [number, { type, code }] of await changePorts(connection, present)) {
      if (type === PORT_MOD_FAILED) gone.add(number);
      else refused.set(number, `bridge ${socket.bridge} refused: error ${type}.${code}`);
    }
    return { gone, refused };
  });

const PORTS_XID = 1;
const BARRIER_XID = 2;
const FIRST_CHANGE_XID = 3;

const portsOf = async (connection: Connection): Promise<PortConfig[]> => {
  connection.write(encodePortsRequest(PORTS_XID));
  const ports: PortConfig[] = [];
  for (;;) {
    const { type, xid, body } = await connection.next();
    if (type === MESSAGE.error) throw failure(body);
    if (type !== PORT_MESSAGE.statsReply || xid !== PORTS_XID) continue;
    const { ports: reported, hasMore } = decodePorts(body);
    for (const port of reported) ports.push(port);
    if (!hasMore) return ports;
  }
};

/** @returns port → why it was not changed */
const changePorts = async (
  connection: Connection,
  changes: readonly (readonly [PortConfig, boolean])[],
): Promise<Map<number, ErrorMessage>> => {
  const refused = new Map<number, ErrorMessage>();
  if (changes.length === 0) return refused;
  const messages = changes.map(([port, on], index) => encodeNoFlood(FIRST_CHANGE_XID + index, port, on));
  // The bridge answers it when it has done everything before it.
  connection.write(...messages, encode(VERSION, PORT_MESSAGE.barrierRequest, BARRIER_XID));
  const isDone = ({ type, xid }: Message): boolean => type === PORT_MESSAGE.barrierReply && xid === BARRIER_XID;
  for (let message = await connection.next(); !isDone(message); message = await connection.next()) {
    if (message.type !== MESSAGE.error) continue;
    const change = changes[message.xid - FIRST_CHANGE_XID];
    if (change === undefined) throw failure(message.body);
    refused.set(change[0].number, decodeError(message.body));
  }
  return refused;
};

/** The bridge also says so that it does not speak our version. */
const failure = (body: Buffer): Error => {
  const { type, code } = decodeError(body);
  return new Error(`it answers with error ${type}.${code}`);
};
