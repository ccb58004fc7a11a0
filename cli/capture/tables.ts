/** What was captured where, for people. Pure. */
import { formatTable } from '../output/table.ts';
import type { Capture, CapturedHop } from './capture.ts';

/** @param where the folder or archive of the files */
export const captureText = ({ captured, missed }: Capture, where: string): string => {
  const table = formatTable({
    head: ['HOP', 'INTERFACE', 'PACKETS', 'FIRST', 'LAST', 'FILE'],
    rows: captured.map((hop) => [
      ...[hop.name, hop.interface, String(hop.packets)],
      ...[timeOf(hop.first), timeOf(hop.last), hop.file],
    ]),
    empty: 'nothing was captured',
  });
  const notes = captured.flatMap(notesOf);
  const not = formatTable({
    head: ['NOT CAPTURED', 'BECAUSE'],
    rows: missed.map(({ name, because }) => [name, because]),
  });
  return [table, ...notes, ...(missed.length === 0 ? [] : [`\n${not}`]), `\nfiles in ${where}\n`].join('');
};

const notesOf = ({ name, note, dropped, failure }: CapturedHop): readonly string[] => [
  ...(note === undefined ? [] : [`${name}: ${note}\n`]),
  ...(failure === undefined ? [] : [`${name}: ended early: ${failure}\n`]),
  ...(dropped === 0 ? [] : [`${name}: the kernel dropped ${dropped} packets before tcpdump saw them\n`]),
];

/** Of the day, in UTC. */
const timeOf = (time: string | undefined): string => time?.slice(11, -1) ?? '';
