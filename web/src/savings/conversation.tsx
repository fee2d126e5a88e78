export function ConversationPage() {
  return <p />;
}
