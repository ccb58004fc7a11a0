import { setImmediate as settle } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { Translation } from '../../datapath/conntrack/translations.ts';
import type { RowChange } from '../../ovsdb/replica/row.ts';
import { FormerBackends } from './former-backends.ts';

const open = () => {
  const log: string[] = [];
  const clock = createFakeClock();
  const errors: unknown[] = [];
  const zone = { failures: 0, remembered: [] as readonly Translation[], beforeInstalled: () => {} };
  const former = new FormerBackends({
    conntrack: {
      whenRevalidated: async () => void log.push('revalidated'),
      translations: async (of) => {
        log.push(`look for ${of.length}`);
        return zone.remembered;
      },
      flushTranslation: async ({ vip, backend }) => void log.push(`forget ${vip} ${backend}`),
    },
    whenInstalled: async () => {
      log.push('installed');
      zone.beforeInstalled();
      if (zone.failures-- > 0) throw new Error('ovn-controller does not answer');
    },
    clock,
    onError: (error) => errors.push(error),
  });
  return { log, clock, errors, zone, former };
};

const UUID = '7b1a4f2e-0000-4000-8000-000000000001' as RowChange['uuid'];

const row = (vips: Readonly<Record<string, string>>, protocol = 'udp', options = { ct_flush: 'true' }) =>
  ({ _uuid: UUID, protocol, options, vips }) as RowChange['before'];

const change = (before: RowChange['before'], after: RowChange['after'], table = 'Load_Balancer'): RowChange => ({
  ...{ table, before, after },
  uuid: UUID,
  columns: ['vips'],
});

const A = '10.128.0.4:8081';
const B = '10.128.2.3:8081';

it('forgets those of an endpoint that went when the datapath goes by the flows without it', async () => {
  const { log, former } = open();
  former.changed([
    change(row({ '10.96.0.2:53': `${A},${B}`, '[fd00::2]:53': '[fd01::4]:8081' }), row({ '10.96.0.2:53': B })),
  ]);
  await settle();
  expect(log).toEqual(['installed', 'revalidated', `forget 10.96.0.2:53 ${A}`, 'forget [fd00::2]:53 [fd01::4]:8081']);
});

it('and all of a row that goes', async () => {
  const { log, former } = open();
  former.changed([change(row({ '10.96.0.2:53': A, '10.96.0.3:53': '' }), undefined)]);
  await settle();
  expect(log.slice(2)).toEqual([`forget 10.96.0.2:53 ${A}`]);
});

it.each([
  ['of a new row', undefined],
  ['that comes', row({})],
  ['that gets its first endpoint', row({ '10.96.0.2:53': '', '[fd00::2]:53': '' })],
])('forgets what was sent to a VIP %s before', async (_, before) => {
  const { log, former } = open();
  former.changed([change(before, row({ '10.96.0.2:53': `${A},${B}`, '[fd00::2]:53': '[fd01::4]:8081' }))]);
  await settle();
  const own = ['forget 10.96.0.2:53 10.96.0.2:53', 'forget [fd00::2]:53 [fd00::2]:53'];
  expect(log).toEqual(['installed', 'revalidated', ...own]);
});

it.each([
  ['an endpoint that comes', change(row({ '10.96.0.2:53': A }), row({ '10.96.0.2:53': `${A},${B}` }))],
  ['TCP', change(row({ '10.96.0.2:53': A }, 'tcp'), undefined)],
  ['a row that does not ask for it', change(row({ '10.96.0.2:53': A }, 'udp', {} as never), undefined)],
  ['another table', change(row({ '10.96.0.2:53': A }), undefined, 'NAT')],
])('does nothing for %s', async (_, one) => {
  const { log, former } = open();
  former.changed([one]);
  await settle();
  expect(log).toEqual([]);
});

it('leaves an endpoint that is back, and waits again for one that goes while it waits', async () => {
  const { log, zone, former } = open();
  zone.beforeInstalled = () => {
    zone.beforeInstalled = () => {};
    former.changed([change(row({}), row({ '10.96.0.2:53': A })), change(row({ '10.96.0.3:53': B }), row({}))]);
  };
  former.changed([change(row({ '10.96.0.2:53': A }), row({}))]);
  await settle();
  const first = ['installed', 'revalidated'];
  // What was sent while it was gone was led to nobody.
  const untranslated = 'forget 10.96.0.2:53 10.96.0.2:53';
  expect(log).toEqual([...first, ...first, untranslated, `forget 10.96.0.3:53 ${B}`]);
});

it('of many, forgets those that the datapath remembers', async () => {
  const { log, zone, former } = open();
  const backends = ['1', '2', '3', '4', '5'].map((last) => `10.128.0.${last}:8081`);
  zone.remembered = [{ vip: '10.96.0.2:53', backend: '10.128.0.3:8081' }];
  former.changed([change(row({ '10.96.0.2:53': backends.join(',') }), undefined)]);
  await settle();
  expect(log.slice(2)).toEqual(['look for 5', 'forget 10.96.0.2:53 10.128.0.3:8081']);
});

it('tries again later with what went since, and not after its end', async () => {
  const { log, clock, errors, zone, former } = open();
  zone.failures = 1;
  former.changed([change(row({ '10.96.0.2:53': A }), undefined)]);
  await settle();
  former.changed([change(row({ '10.96.0.3:53': B }), undefined)]);
  await settle();
  expect(errors).toHaveLength(1);
  expect(log).toEqual(['installed']);
  await clock.advance(10_000);
  await settle();
  expect(log.slice(3)).toEqual([`forget 10.96.0.2:53 ${A}`, `forget 10.96.0.3:53 ${B}`]);
  zone.failures = 1;
  former.changed([change(row({ '10.96.0.2:53': A }), undefined)]);
  await settle();
  former.stop();
  await clock.advance(60_000);
  await settle();
  expect(log).toHaveLength(6);
});
