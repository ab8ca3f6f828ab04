export {
  type AppendMessagesInput,
  type AppendResult,
  appendMessages,
  type SessionChoice,
} from './append-messages.js';
export { MAX_MESSAGE_CHARACTERS, MAX_MESSAGES, type MessageInput } from './message-input.js';
