import { expect, it, vi } from 'vitest';
import { NotConnectedError } from '../../ovsdb/errors.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import { reconnectOperations } from '../databases/controller-target.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import { followSwitch } from './switch-return.ts';

const setup = (ids: Record<string, string> | undefined, transact: (ops: readonly Operation[]) => Promise<never[]>) => {
  const listeners = new Set<(bridge: string) => void>();
  const onReconnect = vi.fn();
  const onError = vi.fn();
  followSwitch({
    session: { transact },
    replica: {
      whenSynced: () => Promise.resolve(),
      rows: () => (ids === undefined ? [] : [{ external_ids: ids }]),
    } as unknown as Pick<VswitchReplica, 'rows' | 'whenSynced'>,
    onReconnect,
    onError,
    sockets: {
      listen: (listener) => {
        listeners.add(listener);
        return () => undefined;
      },
      close: () => undefined,
    },
  });
  const appear = (bridge: string): void => {
    for (const listener of listeners) listener(bridge);
  };
  return { appear, onReconnect, onError };
};

it('ovn-controller gets another name of its bridge when that appears', async () => {
  const sent: (readonly Operation[])[] = [];
  const { appear, onReconnect } = setup({}, async (operations) => {
    sent.push(operations);
    return [];
  });
  appear('br-ex');
  expect(sent).toEqual([]);
  appear('br-int');
  await vi.waitFor(() => expect(onReconnect).toHaveBeenCalledOnce());
  expect(sent).toEqual([reconnectOperations({})]);
});

it('a database that ended at the same time is waited for', async () => {
  const transact = vi.fn().mockRejectedValueOnce(new NotConnectedError('closed')).mockResolvedValue([]);
  const { appear, onReconnect, onError } = setup({}, transact);
  appear('br-int');
  await vi.waitFor(() => expect(onReconnect).toHaveBeenCalledOnce());
  expect(transact).toHaveBeenCalledTimes(2);
  expect(onError).not.toHaveBeenCalled();
});

it('nothing is written where somebody else has said what it connects to, or while nothing is known', async () => {
  const transact = vi.fn();
  setup({ 'ovn-bridge-remote': 'tcp:127.0.0.1:6653' }, transact).appear('br-int');
  setup(undefined, transact).appear('br-int');
  await new Promise((resolve) => setImmediate(resolve));
  expect(transact).not.toHaveBeenCalled();
});

it('a database that does not answer is reported', async () => {
  const { appear, onError } = setup({}, () => Promise.reject(new Error('closed')));
  appear('br-int');
  await vi.waitFor(() => expect(onError).toHaveBeenCalledWith(new Error('closed')));
});
