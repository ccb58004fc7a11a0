/** What flows of the gateway bridge are for, by the registry of its pipeline. */
import { COOKIES, isAskerCookie } from '../../agent/model/registry/marks.ts';
import { FLOW_PRIORITIES, FLOW_TABLES, type FlowTable } from '../../agent/model/registry/openflow.ts';

export interface FlowPurpose {
  /** Its name in the registry. */
  readonly table: FlowTable;
  readonly purpose: string;
}

/** Undefined for a flow that is not ours: another cookie, or a place in the pipeline that we do not use. */
export const purposeOf = (flow: {
  readonly table: number;
  readonly priority: number;
  readonly cookie: string;
}): FlowPurpose | undefined => {
  const cookie = cookieOf(flow.cookie);
  if (!OUR_COOKIES.has(cookie) && !isAskerCookie(cookie)) return undefined;
  const table = TABLE_NAMES.get(flow.table);
  if (table === undefined) return undefined;
  const ranks: readonly { readonly priority: number; readonly purpose: string }[] = Object.values(
    FLOW_PRIORITIES[table],
  );
  const purpose = ranks.find(({ priority }) => priority === flow.priority)?.purpose;
  return purpose === undefined ? undefined : { table, purpose };
};

const OUR_COOKIES: ReadonlySet<bigint> = new Set(Object.values(COOKIES));

const TABLE_NAMES = new Map(
  Object.entries(FLOW_TABLES).map(([name, number]): [number, FlowTable] => [number, name as FlowTable]),
);

const cookieOf = (text: string): bigint => (/^0x[0-9a-f]+$/.test(text) ? BigInt(text) : 0n);
