/** Who waits for an id gets one as soon as there is one, whatever has gone wrong before. */
import { expect, it } from 'vitest';
import { keepIds, refusal, reportOf } from '../testing/id-keeping.ts';

it('a network gets its id when the first write fails', async () => {
  const { server, clock, add, idOf, observed } = keepIds(undefined, { error: refusal(500) });
  expect(add('red')).toEqual([]);
  await clock.advance(100);
  expect(observed).toMatchObject([{ kind: 'failed' }]);
  server.error = undefined;
  await clock.advance(1_000);
  expect(idOf('red')).toBe(1);
});

it('what fails is not tried again at once, however many wait', async () => {
  const { clock, add, observed } = keepIds(undefined, { error: refusal(403) });
  for (const name of ['a', 'b', 'c', 'd']) {
    add(name);
    await clock.advance(1_000);
  }
  await clock.advance(60_000);
  expect(observed.length).toBeGreaterThan(5);
  expect(observed.length).toBeLessThan(15);
});

it('networks that found no id get theirs when all nodes have answered after the record was lost', async () => {
  const { server, clock, keeper, add, idOf, written } = keepIds(undefined, { reports: [reportOf('n1', 7)] });
  await clock.advance(5_000);
  expect(written()?.retired).toHaveLength(4095);
  expect([...add('red'), ...add('blue')]).toEqual([
    expect.stringContaining('no id for network red_n: all ids from 1 to 4095 are in use'),
    expect.stringContaining('no id for network blue_n: all ids from 1 to 4095 are in use'),
  ]);
  server.reports = [reportOf('n1', written()?.retirement ?? 0)];
  keeper.reported();
  await clock.advance(5_000);
  expect([idOf('red'), idOf('blue')]).toEqual([1, 2]);
  expect(written()?.retired).toBeUndefined();
});
