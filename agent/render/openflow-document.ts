/** What bridges would get, as ovs-ofctl(8) writes it, with ports by name. */
import { type Action, type BridgeItem, type Flow, LOCAL_PORT } from '../../datapath/openflow/types.ts';

/** Bridge → lines, sorted. */
export type BridgeLines = Readonly<Record<string, readonly string[]>>;

/** By table, then the highest priority first: as a packet meets them. */
export const openflowDocument = (items: readonly BridgeItem[]): BridgeLines =>
  byBridge(items, (of) =>
    of
      .flatMap((item) => (item.kind === 'flow' ? [{ flow: item.flow, text: flowText(item.flow) }] : []))
      .sort((a, b) => a.flow.table - b.flow.table || b.flow.priority - a.flow.priority || (a.text < b.text ? -1 : 1))
      .map(({ text }) => text),
  );

/** Groups that flows refer to, with a bucket for everyone who wants what comes to the group. */
export const groupsDocument = (items: readonly BridgeItem[]): BridgeLines =>
  byBridge(items, (of) => {
    const buckets = of.flatMap((item) => (item.kind === 'bucket' ? [item.bucket] : []));
    return of
      .flatMap((item) => (item.kind === 'group' ? [item.group] : []))
      .sort((a, b) => a.id - b.id)
      .map(({ id }) =>
        [
          `group_id=${id},type=all`,
          ...buckets
            .filter(({ group }) => group === id)
            .sort((a, b) => a.id - b.id)
            .map((bucket) => `bucket=bucket_id:${bucket.id},actions=${actionsText(bucket.actions)}`),
        ].join(','),
      );
  });

/** Ports that broadcasts do not reach. */
export const noFloodDocument = (items: readonly BridgeItem[]): BridgeLines =>
  byBridge(items, (of) => of.flatMap((item) => (item.kind === 'noFlood' ? [item.noFlood.port] : [])).sort());

export const flowText = ({ table, priority, cookie, inPort, match, actions }: Flow): string => {
  const fields = Object.entries(match);
  const text = [
    ...fields.flatMap(([field, value]) => (value === true ? [field] : [])),
    ...(inPort === undefined ? [] : [`in_port=${inPort}`]),
    ...fields.flatMap(([field, value]) => (value === true ? [] : [`${field}=${value}`])),
  ].join(',');
  return [
    `cookie=0x${cookie.toString(16)}`,
    `table=${table}`,
    `priority=${priority}`,
    ...(text === '' ? [] : [text]),
    `actions=${actionsText(actions)}`,
  ].join(', ');
};

const actionsText = (actions: readonly Action[]): string => actions.map(actionText).join(',') || 'drop';

const actionText = (action: Action): string => {
  if (typeof action === 'string') return action;
  return action.output === LOCAL_PORT ? LOCAL_PORT : `output:${action.output}`;
};

const byBridge = (items: readonly BridgeItem[], lines: (items: readonly BridgeItem[]) => string[]): BridgeLines => {
  const bridges = Object.entries(Object.groupBy(items, ({ bridge }) => bridge)).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    bridges.flatMap(([bridge, of = []]) => {
      const all = lines(of);
      return all.length === 0 ? [] : [[bridge, all]];
    }),
  );
};
