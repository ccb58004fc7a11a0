import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatChange, formatHeader, type Journal, parseJournal } from './journal.ts';
import { createStore, type Store } from './store.ts';

/** A journal whose text is at hand. */
const textJournal = (limit = Number.POSITIVE_INFINITY) => {
  const kept = { text: '', rewrites: 0, failing: false };
  const journal: Journal = {
    append: (change) => {
      if (kept.failing) throw new Error('no space left');
      kept.text += formatChange(change);
    },
    rewrite: ({ revision, objects }) => {
      kept.text = [formatHeader(revision), ...[...objects].map(formatChange)].join('');
      kept.rewrites += 1;
    },
    get isFull() {
      return kept.text.length > limit;
    },
  };
  return { kept, journal };
};

const storeOf = (text: string, journal?: Journal): Store => {
  const store = createStore({ firstRevision: 100, historySize: 1000, journal });
  store.restore(parseJournal(text, 'test'));
  return store;
};

const named = (name: string, n: number) => ({
  metadata: { namespace: 'ns', name, uid: `uid-${name}` },
  n,
  text: 'ü"\n',
});

const COLLECTIONS = ['/pods', '/services'] as const;

const stateOf = (store: Store) => ({
  revision: store.revision,
  objects: COLLECTIONS.map((id) => store.collection(id).range('')),
});

const operation = fc.record({
  collection: fc.constantFrom(...COLLECTIONS),
  name: fc.constantFrom('a', 'b', 'c'),
  remove: fc.boolean(),
  n: fc.nat(9),
});

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

const perform = (store: Store, { collection, name, remove, n }: Operation): void => {
  if (!remove) store.put(collection, named(name, n));
  else store.remove(collection, `ns/${name}`, n > 5 ? named(name, n) : undefined);
};

describe('a store with a journal', () => {
  it('goes on where it was, wherever the text is cut', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 20 }), fc.nat(), (operations, cut) => {
        const { kept, journal } = textJournal();
        const store = storeOf('', journal);
        /** By how long the text is when they are reached. */
        const states = [{ length: kept.text.length, state: stateOf(store) }];
        for (const one of operations) {
          perform(store, one);
          states.push({ length: kept.text.length, state: stateOf(store) });
        }
        const first = states[0]?.length ?? 0;
        const length = first + (cut % (kept.text.length - first + 1));
        const restored = storeOf(kept.text.slice(0, length));
        expect(stateOf(restored)).toEqual(states.findLast((state) => state.length <= length)?.state);
      }),
    );
  });

  it('has the same history, so that watches go on', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 20 }), fc.nat(20), (operations, at) => {
        const { kept, journal } = textJournal();
        const store = storeOf('', journal);
        for (const one of operations) perform(store, one);
        const restored = storeOf(kept.text);
        expect(restored.oldestRevision).toBe(100);
        for (const id of COLLECTIONS) expect(restored.since(id, 100 + at)).toEqual(store.since(id, 100 + at));
      }),
    );
  });

  it('passes listeners what there is, and what has changed since it was rewritten', () => {
    const { kept, journal } = textJournal();
    const first = storeOf('', journal);
    first.put('/pods', named('a', 1));
    first.put('/pods', named('b', 1));
    const second = storeOf(kept.text, journal);
    second.remove('/pods', 'ns/a');
    second.put('/pods', named('b', 2));
    const third = createStore({ firstRevision: 1, historySize: 1000 });
    const reported: string[] = [];
    third.listen(({ type, stored, previous }) => {
      reported.push(`${type} ${stored.key} ${previous?.object['n']} ${stored.object['n']} ${stored.revision}`);
    });
    third.restore(parseJournal(kept.text, 'test'));
    expect(reported).toEqual([
      'ADDED ns/a undefined 1 101',
      'ADDED ns/b undefined 1 102',
      'DELETED ns/a 1 1 103',
      'MODIFIED ns/b 1 2 104',
    ]);
    expect(third).toMatchObject({ revision: 104, oldestRevision: 102 });
    expect(third.since('/pods', 102)).toHaveLength(2);
  });

  it('is rewritten when it has grown', () => {
    const { kept, journal } = textJournal(1000);
    const store = storeOf('', journal);
    for (let n = 0; n < 100; n += 1) store.put('/pods', named('a', n));
    expect(kept.rewrites).toBeGreaterThan(5);
    expect(kept.text.length).toBeLessThan(1200);
    expect(stateOf(storeOf(kept.text))).toEqual(stateOf(store));
  });

  it('does not make a change that could not be written down', () => {
    const { kept, journal } = textJournal();
    const store = storeOf('', journal);
    store.put('/pods', named('a', 1));
    const before = stateOf(store);
    const reported: unknown[] = [];
    store.listen((event) => reported.push(event));
    kept.failing = true;
    expect(() => store.put('/pods', named('a', 2))).toThrow('no space left');
    expect(() => store.put('/pods', named('b', 1))).toThrow('no space left');
    expect(() => store.remove('/pods', 'ns/a')).toThrow('no space left');
    expect(stateOf(store)).toEqual(before);
    expect(reported).toEqual([]);
    kept.failing = false;
    store.put('/pods', named('b', 1));
    expect(stateOf(storeOf(kept.text))).toEqual(stateOf(store));
  });
});

describe('parseJournal', () => {
  const header = formatHeader(7);

  it.each([
    ['nothing', ''],
    ['a header that is not complete', header.slice(0, -1)],
  ])('has %s for nothing', (_, text) => expect(parseJournal(text, 'f')).toBeUndefined());

  it.each([
    ['something else', 'hello\n', 1],
    ['another format', '{"journal":2,"revision":1}\n', 1],
    ['a change before the header', '{"put":"/pods","object":{"metadata":{"resourceVersion":"8"}}}\n', 1],
    ['a line that is no JSON', `${header}{"put":\n`, 2],
    ['an empty line', `${header}\n`, 2],
    ['a line without a collection', `${header}{"object":{"metadata":{"resourceVersion":"8"}}}\n`, 2],
    ['an object without a version', `${header}{"put":"/pods","object":{"metadata":{}}}\n`, 2],
    ['a line without an object', `${header}{"put":"/pods"}\n`, 2],
  ])('refuses %s', (_, text, line) =>
    expect(() => parseJournal(text, 'f')).toThrow(
      expect.objectContaining({ code: 'ERR_KUBE_DATA', message: expect.stringContaining(`f, line ${line}: `) }),
    ),
  );
});
