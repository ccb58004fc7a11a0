/** Ports of this machine's loopback that lead to unix sockets in a guest. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { connectInGuest, type Guest } from './guest.ts';

export interface Forward {
  readonly port: number;
  close(): void;
}

/** @param path of the socket in the guest; it need not be there yet, or always */
export const openForward = async (guest: Pick<Guest, 'socket'>, path: string): Promise<Forward> => {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (outer) => {
    const inner = connectInGuest(guest, path);
    const close = (): void => {
      for (const socket of [outer, inner]) socket.destroy();
      open.delete(outer);
    };
    open.add(outer);
    for (const socket of [outer, inner]) socket.on('error', close).on('close', close);
    outer.pipe(inner).pipe(outer);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  // It is there for whoever owns the guest; it is no reason to go on.
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
};
