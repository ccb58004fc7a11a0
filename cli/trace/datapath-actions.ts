/** Where datapath actions send a packet (odp-util.c of Open vSwitch, `format_odp_actions`). */

/** Numbers of datapath ports that the packet itself goes to; what is wrapped in a tunnel is not here. */
export const outputsOf = (actions: string): readonly number[] =>
  plainActions(actions)
    .filter((action) => /^[0-9]+$/.test(action))
    .map(Number);

/** Whether the packet goes to a controller: of the integration bridge, to ovn-controller. */
export const goesToController = (actions: string): boolean =>
  plainActions(actions).some((action) => /^userspace\(.*\bcontroller\(/.test(action));

/** Those that are done to a small packet, whatever they are inside of; what follows a tunnel's header is not. */
const plainActions = (actions: string): readonly string[] =>
  untilWrapped(splitTopLevel(actions)).flatMap((action) => {
    const [, name = '', inner = ''] = /^([a-z_]+)\((.*)\)$/s.exec(action) ?? [];
    if (name === 'sample' || name === 'check_pkt_len') {
      return splitTopLevel(inner).flatMap((part) => {
        const [, branch = '', content = ''] = /^(actions|le)\((.*)\)$/s.exec(part) ?? [];
        return branch === '' ? [] : plainActions(content);
      });
    }
    return name === 'clone' ? plainActions(inner) : [action];
  });

/** Open vSwitch leaves `clone` out where nothing else is done to the packet afterwards. */
const untilWrapped = (actions: readonly string[]): readonly string[] => {
  const index = actions.findIndex((action) => action.startsWith('tnl_push('));
  return index < 0 ? actions : actions.slice(0, index);
};

/** Splits at commas that are in no parentheses. */
const splitTopLevel = (text: string): string[] => {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '(' || character === '{') depth += 1;
    else if (character === ')' || character === '}') depth -= 1;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, text.slice(start)].map((part) => part.trim());
};
