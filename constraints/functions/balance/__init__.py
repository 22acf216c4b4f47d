"""Balance: contact forces that hold a robot at rest, and what they ask of its joints."""
