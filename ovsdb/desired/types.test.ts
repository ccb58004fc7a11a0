import { describe, expectTypeOf, it } from 'vitest';
import type { OpenVSwitch } from '../models/open-vswitch.gen.ts';
import type { OvnNorthbound } from '../models/ovn-northbound.gen.ts';
import { type AnyFragment, type DesiredFragment, type DesiredRow, foreignRef, type Member, rowRef } from './types.ts';

describe('desired rows', () => {
  it('take references where the row has uuids, and only columns of their table', () => {
    const row: DesiredRow<OvnNorthbound> = {
      table: 'Logical_Switch_Port',
      key: 'p',
      columns: { name: 'p', tag: undefined, dhcpv4_options: rowRef('d'), options: { 'router-port': 'r' } },
    };
    // @ts-expect-error a reference is not a text
    const bad: DesiredRow<OvnNorthbound> = { table: 'Logical_Switch', key: 's', columns: { ports: ['p'] } };
    // @ts-expect-error Logical_Switch has no such column
    const unknown: DesiredRow<OvnNorthbound> = { table: 'Logical_Switch', key: 's', columns: { addresses: [] } };
    expectTypeOf([row, bad, unknown]).toExtend<DesiredRow<OvnNorthbound>[]>();
  });

  it('have members of the column’s type', () => {
    const members: Member<OvnNorthbound>[] = [
      { table: 'Logical_Switch', row: 's', column: 'ports', value: rowRef('p') },
      { table: 'Address_Set', row: 'a', column: 'addresses', value: '10.0.0.1' },
    ];
    const port: Member<OpenVSwitch> = {
      table: 'Bridge',
      row: foreignRef('Bridge', { name: 'br-int' }),
      column: 'ports',
      value: rowRef('p'),
    };
    // @ts-expect-error an address is a text
    const bad: Member<OvnNorthbound> = { table: 'Address_Set', row: 'a', column: 'addresses', value: rowRef('p') };
    expectTypeOf([members, port, bad]).toExtend<unknown[]>();
  });

  it('can be handled without their types', () => {
    expectTypeOf<DesiredFragment<OvnNorthbound>>().toExtend<AnyFragment>();
    const fragment: DesiredFragment<OpenVSwitch> = {
      patches: [{ table: 'Open_vSwitch', entries: { external_ids: { 'ovn-encap-ip': '10.0.0.1', old: null } } }],
    };
    expectTypeOf(fragment).toExtend<AnyFragment>();
  });
});
