import { expect, it } from 'vitest';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import { whenInstalled } from './when-installed.ts';

/** @param reached what ovn-controller answers with, one after the other @returns the operations of each transaction */
const install = async (desired: number, reached: readonly number[]): Promise<readonly (readonly Operation[])[]> => {
  const sent: (readonly Operation[])[] = [];
  const transact = async (operations: readonly Operation[]) => {
    const row = { nb_cfg: desired, hv_cfg: reached[sent.length] ?? 0 };
    sent.push(operations);
    return [{}, { rows: [row] }];
  };
  await whenInstalled({ transact } as Parameters<typeof whenInstalled>[0], 1000, new AbortController().signal);
  return sent;
};

it('waits for each answer of ovn-controller until it has what was asked, or more, as others ask too', async () => {
  const sent = await install(5, [3, 4, 7]);
  expect(sent.slice(1).map(([wait]) => wait)).toMatchObject([
    { op: 'wait', until: '!=', rows: [{ hv_cfg: 3 }] },
    { op: 'wait', until: '!=', rows: [{ hv_cfg: 4 }] },
  ]);
});

it('does not wait for what is there already', async () => {
  expect(await install(5, [5])).toHaveLength(1);
});
