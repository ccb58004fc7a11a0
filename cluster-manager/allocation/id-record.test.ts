import { describe, expect, it } from 'vitest';
import { parseNetworkIdPool } from '../../api/network-id-pool.ts';
import { IdRecord, type RecordPlan } from './id-record.ts';
import { heldId } from './id-shortage.ts';

const NOW = '2026-01-01T00:00:00Z';

const written = ({ status }: RecordPlan) => parseNetworkIdPool({ metadata: { name: 'cluster' }, status }).status;

const started = (max = 9, before?: RecordPlan): IdRecord => {
  const record = new IdRecord(max);
  record.follow(before && written(before));
  return record;
};

const write = (record: IdRecord, more = 0): RecordPlan => {
  const plan = record.plan(more, NOW);
  record.commit(plan);
  return plan;
};

describe('what is written down of ids', () => {
  it('comes before any id is assigned', () => {
    const record = started();
    expect([record.next(), record.hasMore]).toEqual([undefined, true]);
    const plan = record.plan(2, NOW);
    expect([record.next(), plan.status]).toEqual([undefined, { given: '1-2', retirement: 0 }]);
    record.commit(plan);
    expect([record.next(), record.next(), record.next()]).toEqual([1, 2, undefined]);
  });

  it('says who had an id until nobody has it', () => {
    const record = started();
    write(record, 2);
    record.next();
    record.giveBack(1, 'red', { routerKey: 77, isKnown: true });
    const retired = { id: 1, network: 'red', routerKey: 77, retirement: 1, since: NOW };
    expect(write(record).status).toEqual({ given: '1-2', retirement: 1, retired: [retired] });
    expect(record.review(() => ['n1', 'n2'])).toEqual([]);
    expect(heldId(record, 1)).toBe(`network id 1 of deleted network red is still in use by n1, n2, since ${NOW}`);
    expect(record.review(() => [])).toEqual([1]);
    record.free([1]);
    expect(write(record).status).toEqual({ given: '2', retirement: 1 });
  });

  it('is not asked for what has not been written down yet', () => {
    const record = started();
    write(record, 1);
    record.next();
    record.giveBack(1, 'red', { routerKey: undefined, isKnown: true });
    expect(record.review(() => [])).toEqual([]);
  });

  it('is a reason to wait for the nodes after a restart, whoever had the id', () => {
    const first = started();
    write(first, 3);
    first.next();
    first.next();
    const second = started(9, first.plan(3, NOW));
    second.take(2);
    expect([...second.retired.keys()]).toEqual([1, 3, 4, 5]);
    const { status } = write(second, 1);
    expect(status).toMatchObject({ given: '1-6', retirement: 1 });
    expect(second.next()).toBe(6);
    second.free([1]);
    write(second, 1);
    expect(second.next()).toBe(1);
  });

  it('counts its retirements on after a restart', () => {
    const first = started();
    write(first, 1);
    first.next();
    first.giveBack(1, 'red', { routerKey: undefined, isKnown: true });
    const second = started(9, write(first));
    expect(second.retired.get(1)).toMatchObject({ network: 'red', retirement: 1 });
    expect(write(second).status.retirement).toBe(1);
    second.suspect([4]);
    expect(write(second).status).toMatchObject({ given: '1,4', retirement: 2 });
  });

  it('is all that there is, once it was lost', () => {
    const record = started(3);
    record.suspectAll(8);
    record.take(2);
    expect(write(record, 3).status).toMatchObject({ given: '1-3', retirement: 9, retired: [{ id: 1 }, { id: 3 }] });
    expect([record.hasNext, record.hasMore]).toEqual([false, false]);
  });

  it('includes what another program has written down', () => {
    const [record, other] = [started(), started()];
    write(record, 1);
    record.adopt(written(write(other, 3)));
    expect([...record.retired.keys()]).toEqual([2, 3]);
  });

  it('gives what was never used first, then what is free for longest, then what lacks addresses', () => {
    const record = new IdRecord(4, 3);
    const ids = [record.next(), record.next()];
    record.giveBack(2, 'a', { routerKey: undefined, isKnown: true });
    record.giveBack(1, 'b', { routerKey: undefined, isKnown: true });
    expect([...ids, record.next(), record.next(), record.next(), record.next(), record.next()]).toEqual([
      ...[1, 2],
      ...[3, 2, 1, 4, undefined],
    ]);
  });

  it('is not changed by an id that nobody has seen', () => {
    const record = started();
    write(record, 1);
    record.next();
    record.giveBack(1, 'red', { routerKey: undefined, isKnown: false });
    expect([record.retired.size, record.next()]).toEqual([0, 1]);
  });

  it('counts for nothing where it could not be written, and nobody who waits is forgotten', () => {
    const record = started();
    write(record, 2);
    record.next();
    record.giveBack(1, 'red', { routerKey: undefined, isKnown: true });
    record.want();
    const failed = record.plan(0, NOW);
    expect([failed.status.retirement, record.desired]).toEqual([1, 0]);
    expect(record.review(() => [])).toEqual([]);
    record.undo(failed, 'status 500');
    expect([record.isChanged, record.desired]).toEqual([true, 1]);
    expect(record.review(() => [])).toEqual([]);
    // That number was another one's, of something else: nodes that name it have not seen this.
    record.adopt({ given: [], retirement: 1, retired: [] });
    expect(write(record).status).toMatchObject({ retirement: 2, retired: [{ id: 1, retirement: 2 }] });
  });

  it('is retired again when it came back while it was written that it is', () => {
    const record = started();
    write(record, 1);
    record.next();
    record.giveBack(1, 'red', { routerKey: undefined, isKnown: true });
    const plan = record.plan(0, NOW);
    record.take(1);
    record.giveBack(1, 'red', { routerKey: undefined, isKnown: true });
    record.commit(plan);
    expect(record.review(() => [])).toEqual([]);
    expect(write(record).status).toMatchObject({ retired: [{ id: 1, retirement: 2 }] });
  });

  it('is needed no more where there is no place for it', () => {
    const record = started(2);
    record.suspect([1]);
    record.drop();
    expect([record.next(), record.next(), record.next()]).toEqual([2, 1, undefined]);
  });
});
