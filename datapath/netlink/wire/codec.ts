/**
 * The byte formats, from npm `netlink`: message headers, attributes and the fixed structures of rtnetlink. Only these two
 * of its modules are used, neither of which loads its native socket, and nothing else imports them: to replace the
 * package, replace this file. Its attribute parsers are left out because they refuse an attribute that a newer kernel has
 * made longer, and its encoders because they never set NLA_F_NESTED.
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
export { formatAttribute, formatMessage, pad, parseAttributes, parseMessages, readU32 } from 'netlink/dist/structs.js';
