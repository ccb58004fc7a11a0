/** Keeps what a session has sent, in a form that can be sent again to a server with the same rows. */
import type { Operation, OperationResult, ReconcilerSession } from '../../ovsdb/index.ts';

/** The parameters of `transact`, one per transaction. */
export type Sent = readonly unknown[][];

export const recordingSession = (session: ReconcilerSession): { recorder: ReconcilerSession; sent: Sent } => {
  const sent: unknown[][] = [];
  const recorder: ReconcilerSession = {
    transact: async (operations) => {
      const results = await session.transact(operations);
      sent.push(['OVN_Northbound', ...operations.map((operation, index) => repeatable(operation, results[index]))]);
      return results;
    },
    reconnect: (reason) => session.reconnect(reason),
  };
  return { recorder, sent };
};

/** ovsdb-server(7), section "Insert": a row may be given its uuid, so that later transactions can refer to it. */
const repeatable = (operation: Operation, result: OperationResult | undefined): unknown => {
  const uuid = result?.uuid;
  return operation.op === 'insert' && uuid !== undefined ? { ...operation, uuid } : operation;
};
