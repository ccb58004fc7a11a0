/**
 * The byte formats, from npm `netlink`: message headers, attributes and the fixed structures of rtnetlink. Only these two
 * of its modules are used, neither of which loads its native socket, and nothing else imports them: to replace the
 * package, replace this file. Its attributes are left out: the parsers refuse one that a newer kernel has made longer, the
 * encoders never set NLA_F_NESTED, and both take longer than the kernel takes for a route.
 */
export {
  formatAddress,
  formatLink,
  formatRoute,
  MessageType,
  parseAddress,
  parseLink,
  parseRoute,
} from 'netlink/dist/rt/gen_structs.js';
export {
  formatMessage,
  parseMessages,
  readU16,
  readU32,
  writeU16,
  writeU32,
} from 'netlink/dist/structs.js';
