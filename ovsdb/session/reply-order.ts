/** Notices a reply that will not come although the connection is alive, which is nothing that an inactivity probe finds out. */
import type { Clock } from '../../base/clock.ts';
import { TimeoutError } from '../errors.ts';
import type { RpcConnection } from '../wire/connection.ts';

/** A server needs long for the first reply to a monitor of a large database. */
const PATIENCE_MS = 30_000;

/**
 * What `request` resolves or rejects with. Servers answer in the order in which they are asked, but for transactions that wait: when
 * an echo that was sent long after the request is answered first, the request has been lost, and the connection ends.
 * No time limit does that: it would never let a database come that takes longer.
 */
export const answeredInTurn = async (
  connection: RpcConnection,
  clock: Clock,
  request: Promise<void>,
): Promise<void> => {
  let isAnswered = false;
  // The reply to the request may have come by the same bytes as that to the echo: promises are a step behind.
  const giveUpSoon = (): void => {
    clock.schedule(0, () => {
      if (!isAnswered) connection.close(new TimeoutError(`a request had no reply after ${PATIENCE_MS} ms`));
    });
  };
  const cancel = clock.schedule(PATIENCE_MS, () => {
    connection.call('echo', [], (reply) => {
      if ('result' in reply) giveUpSoon();
    });
  });
  try {
    await request;
  } finally {
    isAnswered = true;
    cancel();
  }
};
